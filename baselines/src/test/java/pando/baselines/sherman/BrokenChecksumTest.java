package pando.baselines.sherman;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;

/** A list that ends between an entry and the checksum leaves no damaged leaf. */
@Tag("campaign")
@Timeout(300)
class BrokenChecksumTest {
  private static final long KEYS = 200;
  private static final ShermanOptions OPTIONS =
      ShermanOptions.of("sherman")
          .withComputeServers(2)
          .with("node-bytes", "192")
          .with("validation", "checksum")
          .with("cache-bytes", "64KiB")
          .with("lock-wait-millis", "20");

  private static boolean writesEntry(VerbList verbs) {
    return verbs.size() > 1
        && verbs.kind(0) == Kind.WRITE
        && verbs.length(0) == BLinkLayout.ENTRY_BYTES;
  }

  /** Ends the next list behind its entry, and lets so many lists behind it fail. */
  private static void breakEntry(HookedFabric fabric, int failures) {
    fabric.hookNext(
        BrokenChecksumTest::writesEntry,
        update -> {
          update.post(0, 1);
          int[] left = {failures};
          fabric.hookEach(
              verbs -> left[0]-- > 0,
              verbs -> {
                throw new MemoryServerLostException("lost by a test");
              });
          throw new UnknownOutcomeException("broken by a test");
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 50})
  void shouldMakeALeafWholeHoweverOftenThatFails(int failures) {
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 871));
        ShermanIndex index = ShermanIndex.create(fabric, OPTIONS);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.keys(LongStream.range(0, KEYS).toArray()), 0.5);
      breakEntry(fabric, failures);
      assertThatThrownBy(() -> session.put(1, -1)).isInstanceOf(UnknownOutcomeException.class);
      assertThat(fabric.unhook()).isEqualTo(failures);
      assertThat(other.get(1)).isTrue();
      assertThat(other.value()).isEqualTo(-1);
      assertThat(OPTIONS.walk(fabric).problems()).isEmpty();
    }
  }

  @Test
  void shouldKeepALeafLockedThatCannotBeMadeWhole() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 872));
        ShermanIndex index = ShermanIndex.create(fabric, OPTIONS);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.keys(LongStream.range(0, KEYS).toArray()), 0.5);
      breakEntry(fabric, Integer.MAX_VALUE);
      assertThatThrownBy(() -> session.put(1, -1))
          .isInstanceOf(UnknownOutcomeException.class)
          .hasStackTraceContaining("keeps its nodes locked");
      fabric.unhook();
      assertThatThrownBy(() -> other.put(1, -2)).isInstanceOf(StalledException.class);
    }
  }
}
