package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/** What is believed of places that hold something else by now, or lead nowhere. */
@Tag("campaign")
@Timeout(300)
class RolexPlacesTest {
  private static final int ENTRIES = 4_000;
  private static final int LINK = 24;
  private static final long COUNT_MASK = 63;
  private static final RolexOptions OPTIONS =
      RolexOptions.defaults().withComputeServers(1).with("retraining", "off");

  /** The word is the checksum of a synonym leaf, or the count in a run's header. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 0x7654_3210_FEDC_BA98L, 0x7654_3210_FEDC_BA99L})
  void shouldTakeNoPlaceForThePageThatWasThereBefore(long word) {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1201)) {
      RolexServer server = new RolexServer(0, fabric, OPTIONS, new SplittableRandom(1201));
      try (RolexContext context = new RolexContext(server, fabric, 0)) {
        ModelArrays models = new ModelArrays(1);
        long run = server.allocator.allocateRun(context.worker, context.message, 0, 1);
        models.add(Long.MIN_VALUE, run, Line.ZERO, server.nextStamp());
        long address = server.allocator.allocatePage(context.worker, context.message, 0);
        for (long edition = 0; edition < 2; edition++) {
          context.pages.write(
              new ModelPage(address, edition, Long.MAX_VALUE, GlobalAddress.NULL, models));
          assertThat(context.pages.read(address)).isNotNull();
        }
        context.pages.retire(address);
        Words.set(context.memory, context.words, word);
        context.worker.write(address, context.words, Long.BYTES);
        assertThat(context.pages.read(address)).isNull();
      } finally {
        server.stop();
      }
    }
  }

  @Test
  void shouldFollowNoLinkToNowhereTheSecondTimeEither() {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(1202)), ENTRIES);
    long key = model.firstKey();
    try (Fabric fabric = Pools.open(1, 8 << 20, 1202);
        RolexIndex index = RolexIndex.create(fabric, OPTIONS);
        Session session = index.session();
        RolexPokes pokes = new RolexPokes(fabric, OPTIONS)) {
      index.bulkLoad(Entries.of(model), 0.5);
      assertThat(session.get(key)).isTrue();
      long leaf = pokes.path(key)[0];
      byte[] bytes = pokes.peek(leaf);
      // The link, beside the count in its lowest bits.
      bytes[29] = 0x10;
      pokes.poke(leaf, bytes, true);
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> session.get(key + 1)).isInstanceOf(CorruptNodeException.class);
        assertThat(session.get(key)).isTrue();
      }
    }
  }

  @Test
  void shouldNotGoRoundInACircleOfSynonymLeaves() {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(1204)), ENTRIES);
    long key = model.keySet().stream().skip(ENTRIES / 2).findFirst().orElseThrow();
    try (Fabric fabric = Pools.open(1, 8 << 20, 1204);
        RolexIndex index = RolexIndex.create(fabric, OPTIONS);
        Session session = index.session();
        RolexPokes pokes = new RolexPokes(fabric, OPTIONS)) {
      index.bulkLoad(Entries.of(model), 1);
      for (int i = 1; i <= 60; i++) {
        session.put(key + i, i);
      }
      // The synonym leaf of a chain that is linked to itself, or to the one before it.
      long leaf = pokes.path(key)[0];
      long first = link(pokes.peek(leaf));
      long second = link(pokes.peek(first));
      for (long end : new long[] {first, second}) {
        byte[] bytes = pokes.peek(second);
        ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        words.putLong(LINK, end | (words.getLong(LINK) & COUNT_MASK));
        pokes.poke(second, bytes, true);
        assertThat(session.get(key)).isTrue();
        assertThatThrownBy(() -> session.get(key + 1_000)).isInstanceOf(CorruptNodeException.class);
        assertThatThrownBy(() -> session.put(key + 1_000, 1))
            .isInstanceOf(CorruptNodeException.class);
      }
    }
  }

  private static long link(byte[] leaf) {
    return ByteBuffer.wrap(leaf).order(ByteOrder.LITTLE_ENDIAN).getLong(LINK) & ~COUNT_MASK;
  }

  @Test
  void shouldLeaveRetrainersTheirNumbers() {
    List<Session> sessions = new ArrayList<>();
    try (Fabric fabric = Pools.open(1, 8 << 20, 1205);
        RolexIndex index = RolexIndex.create(fabric, OPTIONS)) {
      for (int i = 0; i < RolexOptions.SESSIONS_MAX; i++) {
        sessions.add(index.session());
      }
      assertThatThrownBy(index::session)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("too many sessions");
      sessions.forEach(Session::close);
    }
  }

  @Test
  void shouldScanWhereAKeyCanBeInMoreLeavesThanAreReadTogether() {
    RolexOptions options = OPTIONS.with("epsilon", "1000").with("leaves-max", "63");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(1203)), ENTRIES);
    try (Fabric fabric = Pools.open(1, 8 << 20, 1203);
        RolexIndex index = RolexIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      VerbCounters before = index.verbs();
      for (long key : model.keySet().stream().skip(ENTRIES / 2).limit(100).toList()) {
        assertThat(session.scan(key, Long.MAX_VALUE, 1, (found, value) -> found == key))
            .isEqualTo(1);
      }
      VerbCounters verbs = index.verbs();
      verbs.subtract(before);
      assertThat(verbs.roundTrips).isLessThan(120);
    }
  }
}
