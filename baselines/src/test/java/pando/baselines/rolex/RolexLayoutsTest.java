package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.Pools;
import pando.index.Seeds;

/** The bytes of leaves, runs and pages, and the small things around them. */
@Tag("campaign")
class RolexLayoutsTest {
  private static final long ADDRESS = GlobalAddress.of(1, 4_096);

  private final MemorySegment memory = Arena.ofAuto().allocate(4_096, 64);

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 16, 60})
  void shouldKeepEntriesOfALeafInOrder(int delta) {
    SplittableRandom random = new SplittableRandom(Seeds.of(1501));
    RolexLeafLayout layout = new RolexLeafLayout(delta);
    NavigableMap<Long, Long> model = new TreeMap<>();
    long link = GlobalAddress.of(3, 1 << 20);
    RolexLeafLayout.format(memory, 64, -5, 500, link);
    for (int i = 0; i < 5_000; i++) {
      long key = random.nextInt(3 * delta);
      int index = RolexLeafLayout.find(memory, 64, key);
      assertThat(index >= 0).isEqualTo(model.containsKey(key));
      if (index >= 0) {
        assertThat(RolexLeafLayout.value(memory, 64, index)).isEqualTo(model.remove(key));
        RolexLeafLayout.delete(memory, 64, index);
      } else if (!layout.isFull(memory, 64)) {
        RolexLeafLayout.insert(memory, 64, -1 - index, key, i);
        model.put(key, (long) i);
      }
      assertThat(RolexLeafLayout.count(memory, 64)).isEqualTo(model.size());
      assertThat(RolexLeafLayout.link(memory, 64)).isEqualTo(link);
      assertThat(layout.isFull(memory, 64)).isEqualTo(model.size() == delta);
      EntryBuffer entries = new EntryBuffer();
      entries.addLeaf(memory, 64);
      assertThat(entries.count()).isEqualTo(model.size());
      if (!model.isEmpty()) {
        assertThat(entries.key(0)).isEqualTo(model.firstKey());
      }
    }
    RolexLeafLayout.setLink(memory, 64, GlobalAddress.NULL);
    assertThat(RolexLeafLayout.count(memory, 64)).isEqualTo(model.size());
    assertThat(RolexLeafLayout.covers(memory, 64, -5)).isTrue();
    assertThat(RolexLeafLayout.covers(memory, 64, -6)).isFalse();
    assertThat(RolexLeafLayout.covers(memory, 64, 500)).isTrue();
    assertThat(RolexLeafLayout.covers(memory, 64, 501)).isFalse();
  }

  @Test
  void shouldTellAWholeLeafFromAnyOther() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1502));
    RolexLeafLayout layout = new RolexLeafLayout(16);
    assertThat(layout.isWhole(memory, 0, ADDRESS)).as("memory never written").isFalse();
    RolexLeafLayout.format(memory, 0, 1, 2, 0);
    for (int i = 0; i < 16; i++) {
      RolexLeafLayout.seal(memory, 0, ADDRESS);
      assertThat(layout.isWhole(memory, 0, ADDRESS)).isTrue();
      assertThat(layout.isWhole(memory, 0, ADDRESS + 64)).isFalse();
      for (int bit = 0; bit < RolexLeafLayout.usedBytes(memory, 0) * 8; bit++) {
        long at = bit / 64 * 8L;
        Words.set(memory, at, Words.get(memory, at) ^ (1L << (bit % 64)));
        assertThat(layout.isWhole(memory, 0, ADDRESS)).as("bit %d", bit).isFalse();
        Words.set(memory, at, Words.get(memory, at) ^ (1L << (bit % 64)));
      }
      RolexLeafLayout.append(memory, 0, i, random.nextLong());
    }
    RolexLeafLayout.seal(memory, 0, ADDRESS);
    RolexLeafLayout.retire(memory, 0);
    assertThat(RolexLeafLayout.isRetired(memory, 0)).isTrue();
    assertThat(layout.isWhole(memory, 0, ADDRESS)).isFalse();
    for (int i = 0; i < 1_000; i++) {
      for (long at = 0; at < 1_200; at += 8) {
        Words.set(memory, at, random.nextLong());
      }
      assertThat(layout.isWhole(memory, 0, ADDRESS)).isFalse();
    }
  }

  @Test
  void shouldKnowTheLengthsOfRuns() {
    RunLayout layout = new RunLayout(new RolexLeafLayout(16).bytes());
    assertThat(RunLayout.lengths(1)).isEqualTo(1);
    assertThat(RunLayout.length(RunLayout.lengths(63) - 1)).isEqualTo(RunLayout.LEAVES_MAX);
    for (int leaves = 1; leaves <= RunLayout.LEAVES_MAX; leaves++) {
      int length = RunLayout.length(RunLayout.numberOfLength(leaves));
      assertThat(length).isBetween(1, leaves);
      assertThat(3 * length).as("no less than two thirds").isGreaterThanOrEqualTo(2 * leaves - 2);
      long place = RunLayout.place(ADDRESS, leaves);
      assertThat(RunLayout.leaves(place)).isEqualTo(leaves);
      assertThat(RunLayout.address(place)).isEqualTo(ADDRESS);
      assertThat(layout.bytes(leaves) % 64).isZero();
      assertThat(layout.leafOffset(leaves)).isLessThanOrEqualTo(layout.bytes(leaves));
      assertThat(layout.leafAddress(place, 0)).isEqualTo(ADDRESS + RunLayout.HEADER_BYTES);
    }
  }

  @Test
  void shouldRefusePagesOfWrongSizes() {
    for (int bytes : new int[] {0, 64, 256, 320, 383, 385, 1_000}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new PageLayout(bytes))
          .withMessageContaining("node-bytes=" + bytes)
          .withMessageContaining("least=384");
    }
    assertThat(new PageLayout(384).capacity()).isEqualTo(3);
    assertThat(new PageLayout(1_024).capacity()).isEqualTo(13);
  }

  @Test
  void shouldTakeNoPageForWholeThatIsNot() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1503));
    PageLayout layout = new PageLayout(1_024);
    int image = layout.imageOffset(1);
    ModelArrays listed = new ModelArrays(1);
    assertThat(layout.isWhole(memory, image, ADDRESS)).as("memory never written").isFalse();
    for (int models = 1; models <= layout.capacity(); models++) {
      listed.add(models, ADDRESS | 1, Line.ZERO, models);
      for (int i = 0; i < models; i++) {
        PageLayout.setModel(memory, image, i, listed);
      }
      PageLayout.seal(memory, image, ADDRESS, 0, 99, 0, models);
      assertThat(layout.isWhole(memory, image, ADDRESS)).isTrue();
      assertThat(layout.isWhole(memory, image, ADDRESS + 64)).isFalse();
      for (int i = 0; i < 500; i++) {
        int at = image + random.nextInt(PageLayout.usedBytes(memory, image) / 8) * 8;
        long before = Words.get(memory, at);
        Words.set(memory, at, before ^ (1L << random.nextInt(64)));
        assertThat(layout.isWhole(memory, image, ADDRESS)).isFalse();
        Words.set(memory, at, before);
      }
    }
    for (long count :
        new long[] {0, -1, layout.capacity() + 1, 1L << 31, 1L << 32, Long.MIN_VALUE}) {
      Words.set(memory, image + 32, count);
      assertThat(layout.isWhole(memory, image, ADDRESS)).isFalse();
    }
  }

  @Test
  void shouldSortEntriesAndKeepOneOfEachKey() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1504));
    for (int round = 0; round < 500; round++) {
      EntryBuffer entries = new EntryBuffer();
      NavigableMap<Long, Long> model = new TreeMap<>();
      int before = random.nextInt(5);
      for (int i = 0; i < before; i++) {
        entries.add(1_000 - i, i);
      }
      int count = random.nextInt(100);
      for (int i = 0; i < count; i++) {
        long key = random.nextInt(150);
        entries.add(key, ~key);
        model.put(key, ~key);
      }
      entries.sort(before);
      assertThat(entries.count()).isEqualTo(before + model.size());
      int at = before;
      for (long key : model.keySet()) {
        assertThat(entries.key(at)).isEqualTo(key);
        assertThat(entries.value(at++)).isEqualTo(~key);
      }
      if (before > 0) {
        assertThat(entries.key(0)).isEqualTo(1_000);
      }
      entries.removeFirst(before);
      assertThat(entries.count()).isEqualTo(model.size());
      if (!model.isEmpty()) {
        assertThat(entries.key(0)).isEqualTo(model.firstKey());
      }
    }
  }

  @Test
  void shouldNeverTellOfASynonymLeafOfAnother() {
    SynonymTable table = new SynonymTable(64);
    for (long i = 1; i <= 1_000; i++) {
      table.set(i << 6, i << 20);
      assertThat(table.of(i << 6)).isEqualTo(i << 20);
    }
    int known = 0;
    for (long i = 1; i <= 1_000; i++) {
      long synonym = table.of(i << 6);
      assertThat(synonym).isIn(0L, i << 20);
      known += synonym == 0 ? 0 : 1;
      table.set(i << 6, 0);
      assertThat(table.of(i << 6)).isZero();
    }
    assertThat(known).isBetween(30, 64);
  }

  @Test
  void shouldQueueEachModelOnceAndInTurn() {
    RetrainQueue queue = new RetrainQueue();
    long[] taken = {-1};
    for (int round = 0; round < 3; round++) {
      for (long key = 0; key < 10_000; key++) {
        assertThat(queue.offer(key)).isTrue();
        assertThat(queue.offer(key)).isFalse();
      }
      for (long key = 0; key < 10_000; key++) {
        assertThat(queue.take(taken)).isTrue();
        assertThat(taken[0]).isEqualTo(key);
      }
      assertThat(queue.take(taken)).isFalse();
      assertThat(queue.offer(7)).isTrue();
      assertThat(queue.take(taken)).isTrue();
      assertThat(taken[0]).isEqualTo(7);
      assertThat(queue.offer(8)).isTrue();
      queue.clear();
      assertThat(queue.take(taken)).isFalse();
    }
  }

  @Test
  void shouldTakeWhatWasPostponedAfterTheNextModel() {
    RetrainQueue queue = new RetrainQueue();
    long[] taken = new long[1];
    queue.postpone(1);
    assertThat(queue.take(taken)).isFalse();
    queue.offer(2);
    assertThat(queue.take(taken)).isTrue();
    assertThat(taken[0]).isEqualTo(2);
    assertThat(queue.take(taken)).isTrue();
    assertThat(taken[0]).isEqualTo(1);
    assertThat(queue.take(taken)).isFalse();
  }

  /** Whatever the line, a model predicts leaves of its run, first to last. */
  @Test
  void shouldPredictLeavesThatThereAre() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1505));
    for (int i = 0; i < 20_000; i++) {
      int epsilon = random.nextInt(1, 1_001);
      int delta = random.nextInt(2, 61);
      ModelView model = new ModelView(epsilon, delta);
      model.low = random.nextLong() >> random.nextInt(64);
      model.place = RunLayout.place(ADDRESS, random.nextInt(1, 64));
      long line = random.nextLong() & Long.MAX_VALUE;
      model.line = Line.isSound(line) ? line : Line.ZERO;
      long key = Math.max(model.low, random.nextLong() >> random.nextInt(64));
      int first = model.first(key);
      int last = model.last(key);
      assertThat(first).isBetween(0, last);
      assertThat(last).isBetween(first, model.leaves() - 1);
      assertThat(last - first).isLessThanOrEqualTo(ModelView.span(epsilon, delta));
    }
  }

  /** Reads what was built, and checks that each entry is where its model predicts it. */
  private static final class Reader implements RunBuilder.Sink {
    private final RolexServer server;
    private final Worker worker;
    private final long buffer;
    private final ModelView model;
    private final NavigableMap<Long, Long> found = new TreeMap<>();
    private final List<Long> places = new ArrayList<>();
    private @Nullable Long high;
    private int leaves;

    Reader(RolexServer server, Worker worker, long buffer) {
      this.server = server;
      this.worker = worker;
      this.buffer = buffer;
      this.model = new ModelView(server.options.epsilon(), server.options.delta());
    }

    @Override
    public long allocated(long place) {
      places.add(place);
      return place;
    }

    @Override
    public void built(long low, long place, long line, long stamp) {
      assertThat(places.getLast()).isEqualTo(place);
      model.low = low;
      model.place = place;
      model.line = line;
      assertThat(Line.isSound(line)).isTrue();
      assertThat(low).isEqualTo(high == null ? Long.MIN_VALUE : high + 1);
      for (int i = 0; i < model.leaves(); i++) {
        long address = server.runs.leafAddress(place, i);
        worker.read(address, buffer, server.leaves.bytes());
        MemorySegment memory = worker.memory();
        assertThat(server.leaves.isWhole(memory, buffer, RolexLeafLayout.identity(address, stamp)))
            .isTrue();
        assertThat(RolexLeafLayout.low(memory, buffer)).isEqualTo(high == null ? low : high + 1);
        high = RolexLeafLayout.high(memory, buffer);
        for (int entry = 0; entry < RolexLeafLayout.count(memory, buffer); entry++) {
          long key = RolexLeafLayout.key(memory, buffer, entry);
          assertThat(RolexLeafLayout.covers(memory, buffer, key)).isTrue();
          assertThat(i).isBetween(model.first(key), model.last(key));
          found.put(key, RolexLeafLayout.value(memory, buffer, entry));
        }
        leaves++;
      }
    }
  }

  @ParameterizedTest
  @EnumSource(KeySets.class)
  void shouldBuildRunsWhoseEntriesAreWhereTheyArePredicted(KeySets keySet) {
    SplittableRandom random = new SplittableRandom(Seeds.of(1506));
    for (String settings : new String[] {"16 16 48 0.7", "4 4 8 1", "2 1 1 0.5", "60 100 63 0.9"}) {
      String[] parts = settings.split(" ", -1);
      RolexOptions options =
          RolexOptions.defaults()
              .with("delta", parts[0])
              .with("epsilon", parts[1])
              .with("leaves-max", parts[2])
              .with("retraining", "off");
      double fill = Double.parseDouble(parts[3]);
      try (Fabric fabric = Pools.open(2, 8 << 20, 1506);
          RegisteredMemory registered = fabric.register(1 << 18);
          Worker worker = fabric.worker(registered)) {
        RolexServer server = new RolexServer(0, fabric, options, random);
        Reader reader = new Reader(server, worker, 128 << 10);
        RunBuilder builder = new RunBuilder(server, worker, 0, 160 << 10, fill, reader);
        long[] keys = keySet.keys(2_000, random);
        builder.start(Long.MIN_VALUE);
        for (long key : keys) {
          builder.add(key, ~key);
        }
        builder.finish(Long.MAX_VALUE);
        assertThat(reader.high).isEqualTo(Long.MAX_VALUE);
        assertThat(reader.found).hasSize(keys.length);
        reader.found.forEach((key, value) -> assertThat(value).isEqualTo(~key));
        assertThat(reader.found.navigableKeySet()).containsExactlyElementsOf(boxed(keys));
        System.out.println(
            keySet
                + " "
                + settings
                + ": models="
                + reader.places.size()
                + ", leaves="
                + reader.leaves
                + ", least="
                + builder.leavesFor(keys.length));
        server.stop();
      }
    }
  }

  private static List<Long> boxed(long[] keys) {
    List<Long> boxed = new ArrayList<>();
    for (long key : keys) {
      boxed.add(key);
    }
    return boxed;
  }
}
