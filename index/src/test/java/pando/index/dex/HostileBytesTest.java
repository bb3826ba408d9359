package pando.index.dex;

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
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.index.CorruptNodeException;
import pando.index.Session;
import pando.index.node.NodeLayout;

/**
 * Damaged nodes: whatever an operation meets, it answers right or throws {@link
 * CorruptNodeException}, and keys of other nodes stay served.
 */
@Timeout(120)
class HostileBytesTest {
  private static final int ENTRIES = 300;
  private static final int MEMORY_SERVERS = 2;
  private static final int AFFECTED_MAX = 2;

  private final List<String> failures = new ArrayList<>();
  private int damaged;

  @ParameterizedTest(name = "level={0} sealed={1} set={2}")
  @CsvSource({
    "0, false, offloading=off",
    "0, true,  offloading=off",
    "0, false, contrary=1",
    "0, true,  contrary=1",
    "1, false, offloading=off",
    "1, true,  offloading=off",
    "1, false, contrary=1",
    "1, true,  contrary=1",
    "2, false, offloading=off",
    "2, true,  offloading=off",
    "3, false, offloading=off",
    "3, true,  offloading=off",
  })
  void shouldSurviveAnyDamagedByte(int level, boolean sealed, String setting) {
    SplittableRandom random = new SplittableRandom(Seeds.of(level * 10 + (sealed ? 1 : 0)));
    int nodeBytes = Pools.tiny(2).nodeBytes();
    for (int at = NodeLayout.IMAGE; at < nodeBytes; at += step(level)) {
      byte change = (byte) random.nextInt(1, 256);
      int where = at;
      run(
          "byte " + at + " ^ 0x" + Integer.toHexString(change & 0xFF),
          level,
          sealed,
          setting,
          (pokes, path, node) -> node[where] ^= change);
    }
    conclude();
  }

  @ParameterizedTest(name = "level={0}")
  @ValueSource(ints = {0, 1, 2, 3})
  void shouldSurviveADamagedNode(int level) {
    SplittableRandom random = new SplittableRandom(Seeds.of(level));
    for (boolean sealed : new boolean[] {false, true}) {
      for (String setting : new String[] {"offloading=off", "contrary=1"}) {
        run("zeros", level, sealed, setting, (pokes, path, node) -> Arrays.fill(node, (byte) 0));
        run("ones", level, sealed, setting, (pokes, path, node) -> Arrays.fill(node, (byte) -1));
        run("noise", level, sealed, setting, (pokes, path, node) -> random.nextBytes(node));
        for (int other = 0; other < 4; other++) {
          int from = other;
          run(
              "node of level " + other,
              level,
              sealed,
              setting,
              (pokes, path, node) -> {
                long[] others = pokes.path(Long.MAX_VALUE);
                byte[] bytes = pokes.peek(others[Math.min(from, others.length - 1)]);
                System.arraycopy(bytes, 0, node, 0, node.length);
              });
        }
      }
    }
    conclude();
  }

  @ParameterizedTest(name = "level={0} sealed={1}")
  @CsvSource({"1, false", "1, true", "2, false", "2, true", "3, false", "3, true"})
  void shouldSurviveADamagedPointer(int level, boolean sealed) {
    for (String setting : new String[] {"offloading=off", "contrary=1"}) {
      for (Map.Entry<String, Long> pointer : pointers().entrySet()) {
        run(
            "pointer to " + pointer.getKey(),
            level,
            sealed,
            setting,
            (pokes, path, node) ->
                ByteBuffer.wrap(node)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(pokes.slotAt(0), pointer.getValue()));
      }
      for (int target = 0; target < 4; target++) {
        int to = target;
        run(
            "pointer to the node above or below, level " + target,
            level,
            sealed,
            setting,
            (pokes, path, node) ->
                ByteBuffer.wrap(node)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(pokes.slotAt(0), path[Math.min(to, path.length - 1)]));
      }
      for (int bit = 0; bit < Long.SIZE; bit += step(level)) {
        long flipped = 1L << bit;
        run(
            "pointer ^ 0x" + Long.toHexString(flipped),
            level,
            sealed,
            setting,
            (pokes, path, node) -> {
              ByteBuffer bytes = ByteBuffer.wrap(node).order(ByteOrder.LITTLE_ENDIAN);
              int at = pokes.slotAt(0);
              bytes.putLong(at, bytes.getLong(at) ^ flipped);
            });
      }
    }
    conclude();
  }

  /** A damaged node that is shared costs a hundred attempts to make sure. */
  private static int step(int level) {
    return level < 2 ? 1 : 5;
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

  private void run(String what, int level, boolean sealed, String setting, Damage damage) {
    String[] parts = setting.split("=", 2);
    DexOptions options = Pools.tiny(2).with(parts[0], parts[1]).with("sessions-max", "3");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(7), ENTRIES);
    String name = what + ", level " + level + (sealed ? ", sealed, " : ", ") + setting;
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, 1 << 20, 7)) {
      try (DexIndex index = DexIndex.create(fabric, options)) {
        index.bulkLoad(Entries.of(model), 0.7);
      }
      long low;
      long high;
      try (Pokes pokes = new Pokes(fabric, options.nodeBytes())) {
        long[] path = pokes.path(keyInTheMiddle(model));
        long address = path[Math.min(level, path.length - 1)];
        low = pokes.low(address);
        high = pokes.high(address);
        byte[] node = pokes.peek(address);
        damage.to(pokes, path, node);
        pokes.poke(address, node, sealed);
      }
      try (DexIndex index = DexIndex.join(fabric, options, 0, 2);
          Session session = index.session()) {
        new Victim(session, model, name, low, high, sealed).run();
      }
    } catch (RuntimeException | AssertionError e) {
      failures.add(name + ": " + e);
      if (failures.size() < 4) {
        e.printStackTrace();
      }
    }
    damaged++;
  }

  private static long keyInTheMiddle(NavigableMap<Long, Long> model) {
    return model.keySet().stream().skip(ENTRIES / 4).findFirst().orElseThrow();
  }

  private void conclude() {
    System.out.println("damaged=" + damaged);
    assertThat(failures).isEmpty();
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

    private static void attempt(Runnable operation) {
      try {
        operation.run();
      } catch (CorruptNodeException expected) {
        assertThat(expected).hasMessageContaining(GlobalAddress.toString(expected.address()));
      }
    }

    /** A node with a right checksum may hold anything; only keys elsewhere must be right. */
    private void check(boolean right, String operation) {
      boolean mustBe = !sealed || operation.endsWith("another key");
      assertThat(right || !mustBe).as("%s: %s", what, operation).isTrue();
    }
  }
}
