package pando.index.dex;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Costs;
import pando.index.Pools;
import pando.index.bytes.ByteSession;

/** What operations of byte strings over DEX cost: the table of docs/systems.md. */
class DexStringsVerbsTest {
  private static final int KEYS = 2_000;
  private static final MemorySegment SHORT = value(7);
  private static final MemorySegment LONG = value(100);

  private static MemorySegment key(int number) {
    return MemorySegment.ofArray("a/path/to/%06d".formatted(number).getBytes(UTF_8));
  }

  private static MemorySegment value(int length) {
    return MemorySegment.ofArray(new byte[length]);
  }

  /** Where the leaf is not cached, a look at the entry READs it, and a change WRITEs it, too. */
  @ParameterizedTest(name = "admission={0}")
  @CsvSource({"1, 0", "0, 1"})
  void shouldCostWhatThePageSays(String admission, int leaf) {
    DexOptions options =
        DexOptions.defaults()
            .with("write-back-interval", "0")
            .withComputeServers(1)
            .with("key-bytes", "64")
            .with("cache-bytes", String.valueOf(4 << 20))
            .with("offloading", "off")
            .with("merge-share", "0")
            .with("admission", admission);
    try (Fabric fabric = Pools.open(1, 64 << 20, 3401)) {
      try (DexIndex index = DexIndex.create(fabric, options)) {
        store(index);
      }
      try (DexIndex index = options.join(fabric, 0, 1);
          DexStrings strings = DexStrings.over(index);
          ByteSession session = strings.session()) {
        for (int i = 0; i < KEYS; i++) {
          session.get(key(i));
        }
        Costing costing = new Costing(strings, leaf);
        // The first blobs of two sizes: each needs a CALL for places.
        session.store(key(1), LONG);
        session.store(key(1), SHORT);
        session.store(key(1), LONG);
        session.store(key(1), SHORT);
        costing.assertCost(() -> session.get(key(701)), 1, 0, 0, 0, 0);
        costing.assertCost(() -> session.get(key(700)), 1, 0, 1, 0, 0);
        costing.assertCost(() -> session.floor(key(700)), 1, 0, 1, 0, 0);
        costing.assertCost(() -> session.put(key(701), SHORT), 1, 1, 0, 0, 0);
        costing.assertCost(() -> session.put(key(700), LONG), 1, 1, 1, 1, 1);
        // From here on each one frees the blob that the one before has replaced.
        costing.assertCost(() -> session.put(key(702), LONG), 1, 1, 1, 1, 1);
        costing.assertCost(() -> session.store(key(704), LONG), 1, 1, 0, 1, 1);
        // Nobody has loaded that value, so its sum is READ.
        costing.assertCost(() -> session.put(key(706), LONG), 1, 1, 2, 1, 1);
        costing.assertCost(() -> session.update(key(708), LONG), 2, 1, 1, 1, 1);
        costing.assertCost(() -> session.put(key(709), LONG), 1, 1, 0, 1, 1);
        costing.assertCost(() -> session.remove(key(710)), 1, 1, 1, 0, 0);
      }
    }
  }

  @Test
  void shouldLoadTheValuesOfAScanTogether() {
    DexOptions options =
        DexOptions.defaults()
            .withComputeServers(1)
            .with("write-back-interval", "0")
            .with("key-bytes", "64")
            .with("contrary", "0");
    try (Fabric fabric = Pools.open(1, 64 << 20, 3402);
        DexIndex index = DexIndex.create(fabric, options)) {
      store(index);
      try (DexStrings strings = DexStrings.over(index);
          ByteSession session = strings.session()) {
        VerbCounters cost =
            Costs.of(strings, () -> session.scan(key(0), null, 128, (key, value) -> true));
        assertThat(cost.reads).isEqualTo(64);
        // Of the values every other one is in its word: so up to one at a time.
        assertThat(cost.roundTrips).isLessThanOrEqualTo(64);
        for (int i = 0; i < KEYS; i++) {
          session.store(key(i), LONG);
        }
        cost = Costs.of(strings, () -> session.scan(key(0), null, 128, (key, value) -> true));
        assertThat(cost.reads).isEqualTo(128);
        assertThat(cost.roundTrips).isEqualTo(4);
      }
    }
  }

  private static void store(DexIndex index) {
    try (DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session()) {
      for (int i = 0; i < KEYS; i++) {
        session.store(key(i), i % 2 == 0 ? LONG : SHORT);
      }
    }
  }

  /** A leaf of 1,024 bytes; a blob of 100, whose place has 128 bytes, of which 112 are held. */
  private record Costing(DexStrings strings, int leaf) {
    private static final int LEAF_BYTES = 1_000;
    private static final int PLACE_BYTES = 128;
    private static final int HELD_BYTES = 112;

    /** Checks a cost: leaves looked at and changed, blobs READ, written and marked. */
    void assertCost(Runnable operation, int looks, int changes, int reads, int writes, int marks) {
      VerbCounters cost = Costs.of(strings, operation);
      String text = Costs.text(cost);
      assertThat(cost.reads).as(text).isEqualTo(looks * leaf + reads);
      assertThat(cost.writes).as(text).isEqualTo(changes * leaf + writes);
      assertThat(cost.atomics).as(text).isEqualTo(marks);
      assertThat(cost.roundTrips)
          .as(text)
          .isEqualTo((looks + changes) * leaf + reads + writes + marks);
      assertThat(cost.calls).as(text).isZero();
      assertThat(cost.bytesOut)
          .as(text)
          .isEqualTo(changes * leaf * LEAF_BYTES + writes * HELD_BYTES + marks * 16L);
      assertThat(cost.bytesIn)
          .as(text)
          .isEqualTo(looks * leaf * LEAF_BYTES + reads * PLACE_BYTES + marks * 8L);
    }
  }
}
