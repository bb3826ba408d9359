package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;

/** Dirty nodes of which nobody knows whether they were written back. */
@Timeout(300)
class DexWriteBackTest {
  private static final DexOptions OPTIONS =
      Tiny.options(1).with("offloading", "off").with("admission", "1");

  private static boolean isWriteBack(VerbList verbs) {
    return verbs.size() == 1 && verbs.kind(0) == Kind.WRITE;
  }

  private static HookedFabric.Hook unanswered(boolean takesEffect) {
    return write -> {
      if (takesEffect) {
        write.post();
      }
      throw new UnknownOutcomeException("not answered by a test");
    };
  }

  @ParameterizedTest(name = "takesEffect={0}")
  @ValueSource(booleans = {false, true})
  void shouldWriteANodeBackAgainThatWasNotAnswered(boolean takesEffect) {
    SplittableRandom random = new SplittableRandom(Seeds.of(871));
    TreeMap<Long, Long> model = new TreeMap<>();
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 871))) {
      try (DexIndex index = DexIndex.create(fabric, OPTIONS);
          Session session = index.session()) {
        for (int i = 0; i < 3_000; i++) {
          long key = random.nextLong(1_000);
          if (model.size() > 500) {
            // Where nodes do not split, what is written is written back.
            key = model.ceilingKey(random.nextLong(model.lastKey()));
            if (i % 10 == 0) {
              fabric.hookNext(DexWriteBackTest::isWriteBack, unanswered(takesEffect));
            }
          }
          session.put(key, i);
          model.put(key, (long) i);
        }
        assertThat(fabric.unhook()).isOne();
      }
      Tree tree = OPTIONS.walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void shouldWriteAllOthersBackWhereOneIsNotAnsweredAtTheEnd(int before) {
    TreeMap<Long, Long> model = new TreeMap<>();
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 872))) {
      DexIndex index = DexIndex.create(fabric, OPTIONS);
      try (Session session = index.session()) {
        for (long key = 0; key < 100; key++) {
          session.put(key, -key);
          model.put(key, -key);
        }
      }
      int[] left = {before};
      fabric.hookNext(verbs -> isWriteBack(verbs) && left[0]-- == 0, unanswered(true));
      assertThatThrownBy(index::close).isInstanceOf(UnknownOutcomeException.class);
      assertThat(fabric.unhook()).isOne();
      Tree tree = OPTIONS.walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  @Test
  void shouldWriteAllBackButWhatALostMemoryServerHas() {
    TreeMap<Long, Long> model = new TreeMap<>();
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 873))) {
      DexOptions options = OPTIONS.with("cache-bytes", "1MiB").with("write-back-interval", "0");
      try (DexIndex index = DexIndex.create(fabric, options);
          Session session = index.session()) {
        for (long key = 0; key < 2_000; key++) {
          model.put(4 * key, key);
        }
        index.bulkLoad(Entries.of(model), 0.7);
        for (long key = 0; key < 8_000; key += 2) {
          session.put(key, -key);
          model.put(key, -key);
        }
        Set<Long> lost = new HashSet<>();
        fabric.hookEach(
            verbs -> isWriteBack(verbs) && GlobalAddress.server(verbs.remote(0)) == 1,
            write -> {
              lost.add(write.verbs().remote(0));
              throw new MemoryServerLostException("lost by a test: server=1");
            });
        assertThatThrownBy(index::flush).isInstanceOf(MemoryServerLostException.class);
        fabric.unhook();
        assertThat(lost).isNotEmpty();
        assertThat(index.unwritten().bytes()).isEqualTo((long) lost.size() * options.nodeBytes());
      }
      Tree tree = options.walk(fabric);
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
    }
  }
}
