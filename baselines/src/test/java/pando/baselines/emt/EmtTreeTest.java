package pando.baselines.emt;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.host.AnsweredCalls;
import pando.index.session.Operation;

/** The tree of one memory server, asked by messages, compared with a model. */
@Timeout(300)
class EmtTreeTest {
  private static final int SERVER = 3;
  private static final int OPERATIONS = Seeds.count(20_000, 60_000);

  /** A tree, in a pool of its own. */
  static final class Pool {
    final EmtHandler handler = new EmtHandler();
    final MemorySegment dram;
    final long tree;

    Pool(Arena arena, int nodeBytes, int nodes) {
      long first = Fabric.CATALOGUE_BYTES;
      dram = arena.allocate(first + (long) (nodes + 2) * nodeBytes, 64);
      tree = GlobalAddress.of(SERVER, first);
      long root = first + nodeBytes;
      EmtNode.format(dram, root, GlobalAddress.of(SERVER, root), 0, Long.MIN_VALUE, Long.MAX_VALUE);
      EmtHeader.format(
          dram,
          first,
          tree,
          nodeBytes,
          Long.MIN_VALUE,
          Long.MAX_VALUE,
          GlobalAddress.NULL,
          GlobalAddress.of(SERVER, root));
      Asker giver = new Asker(this, 1_000);
      for (int i = 0; i < nodes; i++) {
        giver.give(root + (long) (i + 1) * nodeBytes);
      }
    }

    long field(int field) {
      return EmtHeader.get(dram, Fabric.CATALOGUE_BYTES, field);
    }

    void setField(int field, long value) {
      EmtHeader.set(dram, Fabric.CATALOGUE_BYTES, field, value);
    }
  }

  /** Asks the tree as one worker. */
  static final class Asker {
    private final Pool pool;
    private final long worker;
    private final MemorySegment message =
        MemorySegment.ofArray(new long[Worker.CALL_BYTES_MAX / Long.BYTES]);

    Asker(Pool pool, long worker) {
      this.pool = pool;
      this.worker = worker;
    }

    long get(int field) {
      return EmtMessage.get(message, 0, field);
    }

    private void set(int field, long value) {
      EmtMessage.set(message, 0, field, value);
    }

    private long ask(long operation, int bytes) {
      set(EmtMessage.OPERATION, operation);
      set(EmtMessage.TREE, pool.tree);
      if (EmtMessage.isNamed(operation)) {
        AnsweredCalls.setName(message, EmtMessage.NAME, 1, worker, AnsweredCalls.nextNumber());
      }
      pool.handler.handle(SERVER, pool.dram, message, bytes);
      return get(EmtMessage.STATUS);
    }

    void give(long... nodes) {
      for (int i = 0; i < nodes.length; i++) {
        set(EmtMessage.NAMED_BYTES + i * Long.BYTES, GlobalAddress.of(SERVER, nodes[i]));
      }
      ask(EmtMessage.GIVE, EmtMessage.NAMED_BYTES + nodes.length * Long.BYTES);
    }

    long take(long most) {
      set(EmtMessage.MOST, most);
      return ask(EmtMessage.TAKE, EmtMessage.MOST + Long.BYTES);
    }

    /** Loads entries whose values are their keys. */
    long load(long room, long... keys) {
      set(EmtMessage.ROOM, room);
      for (int i = 0; i < keys.length; i++) {
        int at = EmtMessage.LOADED + i * EmtMessage.ENTRY_BYTES;
        set(at, keys[i]);
        set(at + Long.BYTES, keys[i]);
      }
      return ask(EmtMessage.LOAD, EmtMessage.LOADED + keys.length * EmtMessage.ENTRY_BYTES);
    }

    long change(Operation operation, long key, long value) {
      set(EmtMessage.CHANGED_KEY, key);
      set(EmtMessage.STORED, value);
      return ask(operation.code, EmtMessage.requestBytes(operation));
    }

    long read(long operation, long key) {
      set(EmtMessage.KEY, key);
      return ask(operation, EmtMessage.GET_BYTES);
    }

    long scan(boolean down, long from, long to, long rows) {
      set(EmtMessage.KEY, from);
      set(EmtMessage.TO, to);
      set(EmtMessage.ROWS, rows);
      return ask(down ? EmtMessage.SCAN_DOWN : EmtMessage.SCAN, EmtMessage.SCAN_BYTES);
    }
  }

  @ParameterizedTest(name = "seed={0} nodeBytes={1} keys={2}")
  @CsvSource({
    "1, 128,  50",
    "2, 128,  500",
    "3, 128,  3000",
    "4, 192,  3000",
    "5, 320,  10000",
    "6, 4096, 10000",
  })
  void shouldBehaveLikeTreeMap(long seed, int nodeBytes, int keys) {
    SplittableRandom random = new SplittableRandom(Seeds.of(seed));
    try (Arena arena = Arena.ofConfined()) {
      Pool pool = new Pool(arena, nodeBytes, keys);
      long nodes = pool.field(EmtHeader.FREE_NODES);
      TreeMap<Long, Long> model = new TreeMap<>();
      Asker asker = new Asker(pool, 1);
      for (int i = 0; i < OPERATIONS; i++) {
        // Keys come and go in turn, so that the tree grows and shrinks.
        boolean grows = i / (3 * keys) % 2 == 0;
        step(asker, model, random, random.nextInt(keys) * 3L, grows);
      }
      assertThat(pool.field(EmtHeader.ENTRIES)).isEqualTo(model.size());
      List.copyOf(model.keySet())
          .forEach(key -> {
            assertThat(asker.change(Operation.REMOVE, key, 0)).isEqualTo(EmtMessage.FOUND);
          });
      assertThat(pool.field(EmtHeader.ENTRIES)).isZero();
      assertThat(EmtHeader.rootLevel(pool.field(EmtHeader.ROOT))).isZero();
      assertThat(pool.field(EmtHeader.FREE_NODES)).isEqualTo(nodes);
    }
  }

  private static void step(
      Asker asker,
      NavigableMap<Long, Long> model,
      SplittableRandom random,
      long key,
      boolean grows) {
    boolean down = random.nextBoolean();
    long near = key + random.nextInt(3) - 1;
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> {
        long value = random.nextLong();
        Operation operation = grows ? Operation.PUT : Operation.REMOVE;
        @Nullable Long before = grows ? model.put(key, value) : model.remove(key);
        checkFound(asker, asker.change(operation, key, value), before);
      }
      case 3 -> {
        Operation operation = grows ? Operation.REMOVE : Operation.PUT_IF_ABSENT;
        @Nullable Long before = grows ? model.remove(key) : model.putIfAbsent(key, ~key);
        checkFound(asker, asker.change(operation, key, ~key), before);
      }
      case 4, 5 -> checkFound(asker, asker.read(Operation.GET.code, near), model.get(near));
      case 6 -> {
        Map.@Nullable Entry<Long, Long> next =
            down ? model.floorEntry(near) : model.ceilingEntry(near);
        long status = asker.read(down ? EmtMessage.FLOOR : EmtMessage.CEILING, near);
        assertThat(status == EmtMessage.FOUND).isEqualTo(next != null);
        if (next != null) {
          assertThat(asker.get(EmtMessage.NEXT_KEY)).isEqualTo(next.getKey());
          assertThat(asker.get(EmtMessage.NEXT_VALUE)).isEqualTo(next.getValue());
        }
      }
      default -> checkScan(asker, model, random, down, near);
    }
  }

  private static void checkFound(Asker asker, long status, @Nullable Long before) {
    assertThat(status).isEqualTo(before == null ? EmtMessage.ABSENT : EmtMessage.FOUND);
    assertThat(asker.get(EmtMessage.VALUE)).isEqualTo(before == null ? 0 : before);
  }

  private static void checkScan(
      Asker asker,
      NavigableMap<Long, Long> model,
      SplittableRandom random,
      boolean down,
      long from) {
    long to = down ? from - random.nextInt(300) : from + random.nextInt(300);
    int rows = 1 + random.nextInt(40);
    asker.scan(down, from, to, rows);
    NavigableMap<Long, Long> expected =
        down
            ? model.subMap(to, true, from, true).descendingMap()
            : model.subMap(from, true, to, true);
    List<Long> seen = new ArrayList<>();
    for (int i = 0; i < asker.get(EmtMessage.COUNT); i++) {
      seen.add(asker.get(EmtMessage.LIST + i * EmtMessage.ENTRY_BYTES));
    }
    assertThat(seen).isEqualTo(expected.keySet().stream().limit(rows).toList());
  }

  /** Each thread has keys of its own, between those of the others. */
  @ParameterizedTest(name = "seed={0} nodeBytes={1} threads={2}")
  @CsvSource({"11, 128, 4", "12, 320, 4", "13, 128, 2"})
  void shouldServeSeveralThreads(long seed, int nodeBytes, int threads) throws Exception {
    SplittableRandom seeds = new SplittableRandom(Seeds.of(seed));
    int keys = 300;
    try (Arena arena = Arena.ofShared()) {
      Pool pool = new Pool(arena, nodeBytes, keys * threads);
      TreeMap<Long, Long> all = new TreeMap<>();
      List<TreeMap<Long, Long>> models = new ArrayList<>();
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        int number = thread;
        SplittableRandom random = seeds.split();
        TreeMap<Long, Long> model = new TreeMap<>();
        models.add(model);
        tasks.add(() -> {
          Asker asker = new Asker(pool, number);
          for (int i = 0; i < OPERATIONS; i++) {
            long key = (long) random.nextInt(keys) * threads + number;
            long value = random.nextLong();
            boolean puts = (i / keys % 2 == 0) ^ (random.nextInt(4) == 0);
            Operation operation = puts ? Operation.PUT : Operation.REMOVE;
            checkFound(
                asker,
                asker.change(operation, key, value),
                puts ? model.put(key, value) : model.remove(key));
            checkFound(asker, asker.read(Operation.GET.code, key), model.get(key));
            checkOrder(asker, random.nextBoolean(), key);
          }
          return null;
        });
      }
      Threads.run(tasks);
      models.forEach(all::putAll);
      Asker asker = new Asker(pool, threads);
      all.forEach((key, value) -> checkFound(asker, asker.read(Operation.GET.code, key), value));
      assertThat(pool.field(EmtHeader.ENTRIES)).isEqualTo(all.size());
    }
  }

  private static void checkOrder(Asker asker, boolean down, long from) {
    asker.scan(down, from, down ? Long.MIN_VALUE : Long.MAX_VALUE, 20);
    long before = from;
    for (int i = 0; i < asker.get(EmtMessage.COUNT); i++) {
      long key = asker.get(EmtMessage.LIST + i * EmtMessage.ENTRY_BYTES);
      assertThat((key == from && i == 0) || (down ? key < before : key > before)).isTrue();
      before = key;
    }
  }
}
