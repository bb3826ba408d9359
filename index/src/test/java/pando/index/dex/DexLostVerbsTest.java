package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;

/** Changes of shared nodes, one of whose verbs is not answered: each in turn. */
@Tag("campaign")
@Timeout(300)
class DexLostVerbsTest {
  private static final DexOptions OPTIONS =
      Tiny.options(3).with("offloading", "off").with("cache-bytes", String.valueOf(256 * 192));

  private static final int KEYS = 100;

  /** What takes effect of verbs that are not answered. */
  enum Effect {
    NONE,
    FIRST,
    ALL
  }

  @ParameterizedTest
  @EnumSource
  void shouldNeitherLoseEntriesNorLeaveLocks(Effect effect) {
    int verbs = 0;
    while (loseOne(effect, verbs)) {
      verbs++;
    }
    assertThat(verbs).isGreaterThan(100);
  }

  /** Loses one of the verbs; {@code false} where there are no more of them. */
  private static boolean loseOne(Effect effect, int number) {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 873))) {
      TreeMap<Long, Long> model = new TreeMap<>();
      int struck;
      try (DexIndex index = DexIndex.create(fabric, OPTIONS);
          Session session = index.session()) {
        int[] left = {number};
        fabric.hookNext(
            verbs -> verbs.size() > 0 && left[0]-- == 0,
            posting -> {
              if (effect == Effect.ALL) {
                posting.post();
              } else if (effect == Effect.FIRST && posting.verbs().size() > 1) {
                posting.postFirst(1);
              }
              throw new UnknownOutcomeException("not answered by a test: verb=" + number);
            });
        for (long key : shuffledKeys(1)) {
          untilAnswered(() -> session.put(key, -key));
          model.put(key, -key);
        }
        for (long key : shuffledKeys(2).subList(0, 4 * KEYS / 5)) {
          untilAnswered(() -> session.remove(key));
          model.remove(key);
        }
        struck = fabric.unhook();
      }
      Tree tree = OPTIONS.walk(fabric);
      assertThat(tree.problems()).as("verb=%d", number).isEmpty();
      assertThat(tree.entries()).as("verb=%d", number).isEqualTo(model);
      return struck == 1;
    }
  }

  private static void untilAnswered(Runnable operation) {
    try {
      operation.run();
    } catch (PandoException _) {
      operation.run();
    }
  }

  private static List<Long> shuffledKeys(long seed) {
    List<Long> keys =
        LongStream.range(0, KEYS)
            .mapToObj(i -> (i - KEYS / 2) * (Long.MAX_VALUE / KEYS))
            .collect(Collectors.toList());
    SplittableRandom random = new SplittableRandom(873 + seed);
    for (int i = keys.size(); i > 1; i--) {
      Collections.swap(keys, i - 1, random.nextInt(i));
    }
    return keys;
  }
}
