package pando.index.orca.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;

@Timeout(300)
class LeafEntriesTest {
  /** Merges draw among the entries below the end: far beyond those in use, they would find none. */
  @Test
  void shouldTakeTheLeastFreeEntryAndEndBehindTheGreatest() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2401));
    try (Fabric fabric = Pools.open(1, 1 << 20, 1)) {
      LeafEntries entries = new LeafEntries(fabric);
      assertThat(entries.end()).isEqualTo(1);
      BitSet used = new BitSet();
      used.set(0);
      int greatest = 0;
      for (int step = 0; step < 40_000; step++) {
        int drawn = random.nextInt(1, 12_000);
        if (used.get(drawn) && random.nextInt(3) == 0) {
          used.clear(drawn);
          entries.free(drawn);
        } else {
          int taken = entries.take();
          assertThat(taken).isEqualTo(used.nextClearBit(0));
          used.set(taken);
          greatest = Math.max(greatest, taken);
        }
        assertThat(entries.end()).isEqualTo(greatest + 1);
      }
      entries.clear();
      assertThat(entries.take()).isEqualTo(1);
      assertThat(entries.end()).isEqualTo(2);
      entries.close();
    }
  }

  /** A change of the tree waits for no session that has an entry latched which is free. */
  @Test
  void shouldLatchTheLeastFreeEntryThatIsNotLatched() {
    try (Fabric fabric = Pools.open(1, 1 << 20, 1)) {
      LeafEntries entries = new LeafEntries(fabric);
      for (int entry = 1; entry <= 5; entry++) {
        assertThat(entries.take()).isEqualTo(entry);
      }
      entries.free(2);
      entries.free(3);
      entries.free(4);
      assertThat(entries.tryLatch(2)).isTrue();
      assertThat(entries.tryLatch(4)).isTrue();
      assertThat(entries.takeLatched()).isEqualTo(3);
      assertThat(LeafEntries.isLatched(entries.version(3))).isTrue();
      assertThat(entries.takeLatched()).isEqualTo(6);
      entries.unlatch(4, 0);
      assertThat(entries.takeLatched()).isEqualTo(4);
      entries.unlatch(2, 0);
      assertThat(entries.take()).isEqualTo(2);
      assertThat(entries.end()).isEqualTo(7);
      entries.close();
    }
  }
}
