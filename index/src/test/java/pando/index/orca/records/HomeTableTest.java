package pando.index.orca.records;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.parts.CacheParts;

@Timeout(300)
class HomeTableTest {
  private static final int PARTS = 64;
  private static final int KEYS = 20_000;

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final CacheParts parts = CacheParts.of(fabric, PARTS, 768);

  @AfterEach
  void close() {
    parts.close();
    fabric.close();
  }

  @Test
  void shouldSpreadKeysEvenlyWhateverPartsComeAndGo() {
    Random random = new Random(Seeds.of(41));
    HomeTable table = HomeTable.of(parts, 3, 7);
    for (int step = 0; step < 300; step++) {
      int part = random.nextInt(PARTS);
      int most = step % 3 == 0 ? Integer.MAX_VALUE : random.nextInt(1, 20);
      HomeTable before = table;
      if (!table.isInUse(part)) {
        table = table.with(part, most);
        assertThat(before.partsThatLose(table)).doesNotContain(part).isNotEmpty();
      } else if (table.inUse().length > 1) {
        table = table.without(part, most);
        assertThat(before.partsThatLose(table)).containsExactly(part);
        while (table.isInUse(part)) {
          table = table.without(part, most);
        }
      }
      table = balanced(table, most);
      check(before, table);
    }
  }

  private static HomeTable balanced(HomeTable table, int most) {
    HomeTable balanced = table;
    for (HomeTable next = table; next != null; next = balanced == next ? null : balanced) {
      balanced = next.balanced(most);
      assertThat(next.partsThatLose(balanced).length).isLessThanOrEqualTo(most);
    }
    return balanced;
  }

  /** Keys move from the parts that lose only, and no part has more than others. */
  private void check(HomeTable before, HomeTable after) {
    int[] inUse = after.inUse();
    int[] losing = before.partsThatLose(after);
    int[] keys = new int[PARTS];
    for (long key = -KEYS / 2; key < KEYS / 2; key++) {
      long home = after.home(key);
      keys[parts.partOf(home)]++;
      assertThat(home % RecordCache.BUCKET_BYTES).isZero();
      if (home != before.home(key)) {
        assertThat(losing).contains(parts.partOf(before.home(key)));
      }
    }
    // A range more or less, of at least 16 each, and the noise of a drawing.
    int expected = KEYS / inUse.length;
    for (int part = 0; part < PARTS; part++) {
      if (Arrays.binarySearch(inUse, part) >= 0) {
        assertThat(keys[part]).isBetween(expected * 3 / 4, expected * 5 / 4);
      } else {
        assertThat(keys[part]).isZero();
      }
    }
  }
}
