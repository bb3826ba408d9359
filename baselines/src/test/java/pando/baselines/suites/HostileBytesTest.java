package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.index.Configuration;
import pando.index.CorruptNodeException;
import pando.index.Entries;
import pando.index.Pokes;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/**
 * Damaged nodes: whatever an operation meets, it answers right or throws {@link
 * CorruptNodeException}, and keys of other nodes stay served.
 */
@FewRows(products = 2)
@Timeout(300)
class HostileBytesTest {
  private static final int ENTRIES = 300;
  private static final int MEMORY_SERVERS = 2;
  private static final int AFFECTED_MAX = 2;
  private static final int LEVELS = 4;

  /** Bytes from one that is damaged to the next. */
  private static final int STEP = Seeds.count(307, 75, 17);

  @ParameterizedTest(name = "{0} level={1} sealed={2} {3}")
  @CsvSource({
    "DEX,       0, false, offloading=off",
    "DEX,       0, true,  offloading=off",
    "DEX,       0, false, contrary=1",
    "DEX,       0, true,  contrary=1",
    "DEX,       1, false, offloading=off",
    "DEX,       1, true,  offloading=off",
    "DEX,       1, false, contrary=1",
    "DEX,       1, true,  contrary=1",
    "DEX,       2, false, offloading=off",
    "DEX,       2, true,  offloading=off",
    "DEX,       3, false, offloading=off",
    "DEX,       3, true,  offloading=off",
    "DEX,       0, false, key-bytes=16 node-bytes=256 cache-bytes=16KiB contrary=1",
    "DEX,       1, false, key-bytes=32 node-bytes=320 cache-bytes=20KiB contrary=1",
    "DEX,       1, true,  key-bytes=16 node-bytes=192 offloading=off",
    "DEX,       2, true,  key-bytes=16 node-bytes=192 offloading=off",
    "SHERMAN,   0, false, validation=checksum",
    "SHERMAN,   0, true,  validation=checksum",
    "SHERMAN,   1, false, validation=checksum",
    "SHERMAN,   1, true,  validation=checksum",
    "SHERMAN,   2, false, validation=checksum",
    "SHERMAN,   2, true,  validation=checksum",
    "SHERMAN,   0, true,  validation=versions",
    "SHERMAN,   1, true,  validation=versions",
    "FG,        0, false, validation=checksum",
    "FG,        1, true,  validation=checksum",
    "P_SHERMAN, 0, false, validation=checksum",
    "P_SHERMAN, 1, true,  validation=checksum",
    "DEFT,      0, false, validation=checksum",
    "DEFT,      1, false, validation=checksum",
    "DEFT,      2, false, validation=checksum",
    "DEFT,      0, true,  validation=checksum",
    "DEFT,      1, true,  validation=checksum",
    "DEFT,      2, true,  validation=checksum",
    "DEFT,      0, true,  validation=versions",
    "DEFT,      1, true,  validation=versions",
    "ROLEX,     0, false, retraining=off",
    "ROLEX,     0, true,  retraining=off",
    "ROLEX,     1, false, retraining=off",
    "ROLEX,     1, true,  retraining=off",
    "ROLEX,     0, true,  retraining=on",
    "EMT_D,     0, true,  rows=7",
    "EMT_D,     1, true,  rows=250",
    "EMT_D,     2, true,  rows=7",
    "SMART,     0, true,  reserve=steps lock-wait-millis=20",
    "SMART,     1, true,  reserve=steps lock-wait-millis=20",
    "P_SMART,   1, true,  reserve=steps lock-wait-millis=20",
  })
  void shouldSurviveAnyDamagedByte(
      SystemUnderTest system, int level, boolean sealed, String settings) {
    SplittableRandom random = new SplittableRandom(Seeds.of(level * 10 + (sealed ? 1 : 0)));
    Damaged damaged = new Damaged(system, level, sealed, settings);
    for (int at = random.nextInt(STEP); at < damaged.nodeBytes(); at += STEP) {
      byte change = (byte) random.nextInt(1, 256);
      int where = at;
      damaged.run(
          "byte " + where + " ^ 0x" + Integer.toHexString(change & 0xFF),
          (pokes, path, node) -> node[Math.max(where, pokes.image())] ^= change);
    }
    damaged.conclude();
  }

  @ParameterizedTest(name = "{0} level={1} {2}")
  @CsvSource({
    "DEX,       0, offloading=off",
    "DEX,       0, contrary=1",
    "DEX,       1, contrary=1",
    "DEX,       3, offloading=off",
    "DEX,       0, key-bytes=16 contrary=1",
    "DEX,       1, key-bytes=16 contrary=1",
    "SHERMAN,   0, validation=checksum",
    "SHERMAN,   1, validation=versions",
    "SHERMAN,   2, validation=checksum",
    "FG,        0, validation=checksum",
    "P_SHERMAN, 1, validation=checksum",
    "DEFT,      0, validation=checksum",
    "DEFT,      1, validation=checksum",
    "DEFT,      2, validation=checksum",
    "ROLEX,     0, retraining=off",
    "ROLEX,     1, retraining=on",
    "EMT_D,     0, rows=7",
    "EMT_D,     1, rows=250",
    "SMART,     0, reserve=steps lock-wait-millis=20",
  })
  void shouldSurviveADamagedNode(SystemUnderTest system, int level, String settings) {
    SplittableRandom random = new SplittableRandom(Seeds.of(level));
    for (boolean sealed : new boolean[] {false, true}) {
      Damaged damaged = new Damaged(system, level, sealed, settings);
      damaged.run("zeros", (pokes, path, node) -> Arrays.fill(node, (byte) 0));
      damaged.run("ones", (pokes, path, node) -> Arrays.fill(node, (byte) -1));
      damaged.run("noise", (pokes, path, node) -> random.nextBytes(node));
      for (int other = 0; other < LEVELS; other++) {
        int from = other;
        damaged.run(
            "node of level " + other,
            (pokes, path, node) -> {
              long[] others = pokes.path(Long.MAX_VALUE);
              byte[] bytes = pokes.peek(others[Math.min(from, others.length - 1)]);
              System.arraycopy(bytes, 0, node, 0, node.length);
            });
      }
      damaged.conclude();
    }
  }

  @ParameterizedTest(name = "{0} level={1} sealed={2} {3}")
  @CsvSource({
    "DEX,       1, false, offloading=off",
    "DEX,       1, true,  contrary=1",
    "DEX,       2, false, contrary=1",
    "DEX,       2, true,  offloading=off",
    "DEX,       1, true,  key-bytes=16 contrary=1",
    "SHERMAN,   1, false, validation=checksum",
    "SHERMAN,   1, true,  validation=checksum",
    "SHERMAN,   1, true,  validation=versions",
    "SHERMAN,   2, true,  validation=checksum",
    "FG,        1, true,  validation=versions lock-wait-millis=20",
    "P_SHERMAN, 1, true,  validation=checksum",
    "DEFT,      1, false, validation=checksum",
    "DEFT,      1, true,  validation=checksum",
    "DEFT,      1, true,  validation=versions",
    "DEFT,      2, true,  validation=checksum",
    "ROLEX,     1, false, retraining=off",
    "ROLEX,     1, true,  retraining=on",
    "EMT_D,     1, true,  rows=7",
    "EMT_D,     2, true,  rows=250",
    "SMART,     1, true,  reserve=steps lock-wait-millis=20",
  })
  void shouldSurviveADamagedPointer(
      SystemUnderTest system, int level, boolean sealed, String settings) {
    Damaged damaged = new Damaged(system, level, sealed, settings);
    for (Map.Entry<String, Long> pointer : pointers().entrySet()) {
      damaged.run(
          "pointer to " + pointer.getKey(),
          (pokes, path, node) -> setPointer(pokes, node, pointer.getValue()));
    }
    for (int target = 0; target < LEVELS; target++) {
      int to = target;
      damaged.run(
          "pointer to the node above or below, level " + target,
          (pokes, path, node) -> setPointer(pokes, node, path[Math.min(to, path.length - 1)]));
    }
    for (int bit = 0; bit < Long.SIZE; bit += STEP) {
      long flipped = 1L << bit;
      damaged.run(
          "pointer ^ 0x" + Long.toHexString(flipped),
          (pokes, path, node) ->
              setPointer(pokes, node, words(node).getLong(pokes.slotAt(0)) ^ flipped));
    }
    damaged.conclude();
  }

  private static void setPointer(Pokes pokes, byte[] node, long pointer) {
    words(node).putLong(pokes.slotAt(0), pointer);
  }

  private static ByteBuffer words(byte[] node) {
    return ByteBuffer.wrap(node).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static Map<String, Long> pointers() {
    return Map.of(
        "nothing", GlobalAddress.NULL,
        "the catalogue", GlobalAddress.of(0, 64),
        "the catalogue's end", GlobalAddress.of(1, Fabric.CATALOGUE_BYTES - 8),
        "an unused place", GlobalAddress.of(1, 700 << 10),
        "the pool's end", GlobalAddress.of(1, (1 << 20) + Fabric.CATALOGUE_BYTES - 8),
        "far outside", GlobalAddress.of(0, 1L << 46),
        "no memory server", GlobalAddress.of(17, 1 << 16),
        "chip", GlobalAddress.onChip(0, 0),
        "swizzled", GlobalAddress.SWIZZLED | 192,
        "minus one", -1L);
  }

  /** Damages the copy of a node; the path holds the nodes on the way to it, the leaf first. */
  private interface Damage {
    void to(Pokes pokes, long[] path, byte[] node);
  }

  /** An index that is made anew for each damage of one of its nodes. */
  private static final class Damaged {
    private final Configuration configuration;
    private final int level;
    private final boolean sealed;
    private final NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(7), ENTRIES);
    private final List<String> failures = new ArrayList<>();
    private int damages;

    Damaged(SystemUnderTest system, int level, boolean sealed, String settings) {
      this.configuration = system.tiny(2).with(settings);
      this.level = level;
      this.sealed = sealed;
    }

    int nodeBytes() {
      return configuration.nodeBytes();
    }

    void run(String what, Damage damage) {
      try (Fabric fabric = Pools.open(MEMORY_SERVERS, 1 << 20, 7)) {
        try (RangeIndex index = configuration.create(fabric)) {
          index.bulkLoad(Entries.of(model), 0.7);
        }
        long low;
        long high;
        try (Pokes pokes = configuration.pokes(fabric)) {
          long[] path = pokes.path(keyInTheMiddle());
          long address = path[Math.min(level, path.length - 1)];
          low = pokes.low(address);
          high = pokes.high(address);
          byte[] node = pokes.peek(address);
          damage.to(pokes, path, node);
          pokes.poke(address, node, sealed);
        }
        try (RangeIndex index = configuration.join(fabric, 0, 2);
            Session session = index.session()) {
          new Victim(session, model, what, low, high, sealed).run();
        }
      } catch (RuntimeException | AssertionError e) {
        failures.add(what + ": " + e);
        if (failures.size() < 4) {
          e.printStackTrace();
        }
      }
      damages++;
    }

    private long keyInTheMiddle() {
      return model.keySet().stream().skip(ENTRIES / 4).findFirst().orElseThrow();
    }

    void conclude() {
      System.out.println("damages=" + damages);
      assertThat(failures).isEmpty();
    }
  }

  /** All operations on an index with one damaged node. */
  private static final class Victim {
    private final Session session;
    private final NavigableMap<Long, Long> model;
    private final String what;
    private final long low;
    private final long high;
    private final boolean sealed;

    Victim(
        Session session,
        NavigableMap<Long, Long> model,
        String what,
        long low,
        long high,
        boolean sealed) {
      this.session = session;
      this.model = model;
      this.what = what;
      this.low = low;
      this.high = high;
      this.sealed = sealed;
    }

    void run() {
      model.subMap(low, true, high, true).entrySet().stream()
          .limit(AFFECTED_MAX)
          .forEach(entry -> affected(entry.getKey(), entry.getValue()));
      attempt(() -> session.scan(Long.MIN_VALUE, Long.MAX_VALUE, (key, value) -> true));
      for (Map.Entry<Long, Long> entry : model.entrySet()) {
        if (entry.getKey() < low || entry.getKey() > high) {
          served(entry.getKey(), entry.getValue());
        }
      }
    }

    private void affected(long key, long value) {
      attempt(() -> check(session.get(key) && session.value() == value, "get"));
      attempt(() -> check(session.floor(key) && session.value() == value, "floor"));
      attempt(() -> check(session.ceiling(key) && session.value() == value, "ceiling"));
      attempt(() -> check(session.scan(key, key, 9, (k, v) -> v == value) == 1, "scan"));
      attempt(() -> check(session.update(key, value), "update"));
      attempt(() -> check(session.put(key, value), "put"));
      attempt(() -> check(!session.putIfAbsent(key, value), "putIfAbsent"));
      attempt(() -> check(session.remove(key), "remove"));
      attempt(() -> check(session.putIfAbsent(key, value), "putIfAbsent after remove"));
    }

    private void served(long key, long value) {
      check(session.get(key) && session.value() == value, "get of another key");
      check(session.update(key, value), "update of another key");
      check(session.floor(key) && session.key() == key, "floor of another key");
      check(session.ceiling(key) && session.key() == key, "ceiling of another key");
      check(session.remove(key), "remove of another key");
      check(session.putIfAbsent(key, value), "putIfAbsent of another key");
    }

    private void attempt(Runnable operation) {
      try {
        operation.run();
      } catch (CorruptNodeException expected) {
        assertThat(expected).hasMessageContaining(GlobalAddress.toString(expected.address()));
      } catch (StalledException e) {
        // A node with a right checksum may look like one that others change all the time.
        assertThat(sealed).as(e.getMessage()).isTrue();
      }
    }

    /** A node with a right checksum may hold anything; only keys elsewhere must be right. */
    private void check(boolean right, String operation) {
      if (!sealed || operation.endsWith("another key")) {
        assertThat(right).as("%s: %s", what, operation).isTrue();
      }
    }
  }
}
