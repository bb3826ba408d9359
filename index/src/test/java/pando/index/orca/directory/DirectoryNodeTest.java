package pando.index.orca.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import pando.index.Seeds;

class DirectoryNodeTest {
  private static final int CHILDREN_MAX = 70;

  /**
   * A search that ran beside a change may ask for a key below the first: the first child has it.
   */
  @Test
  void shouldFindTheChildOfAnyKey() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2621));
    for (int children = 1; children <= CHILDREN_MAX; children++) {
      long[] lows = random.longs().distinct().limit(children).sorted().toArray();
      DirectoryNode node = DirectoryNode.ofLeaves(0, lows, Long.MAX_VALUE, new int[children]);
      NavigableMap<Long, Integer> model = new TreeMap<>();
      for (int child = 0; child < children; child++) {
        model.put(lows[child], child);
      }
      check(node, model, Long.MIN_VALUE);
      check(node, model, Long.MAX_VALUE);
      for (long low : lows) {
        check(node, model, low - 1);
        check(node, model, low);
        check(node, model, random.nextLong());
      }
    }
  }

  private static void check(DirectoryNode node, NavigableMap<Long, Integer> model, long key) {
    boolean isBelow = key < model.firstKey();
    int expected = isBelow ? 0 : model.floorEntry(key).getValue();
    assertThat(node.childOf(key)).as("children=%d key=%d", node.size(), key).isEqualTo(expected);
  }
}
