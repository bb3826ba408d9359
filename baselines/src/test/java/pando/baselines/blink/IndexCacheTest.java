package pando.baselines.blink;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Backoff;
import pando.fabric.GlobalAddress;
import pando.fabric.SpinBackoff;
import pando.index.Seeds;
import pando.index.Threads;

@Tag("campaign")
@Timeout(300)
class IndexCacheTest {
  private static final int FRAMES = 8;
  private static final long WIDTH = 100;
  private static final int CHILDREN = 4;

  private final Backoff backoff = new SpinBackoff();
  private final SplittableRandom random = new SplittableRandom(Seeds.of(811));
  private final IndexCache cache = new IndexCache(FRAMES, CHILDREN);
  private final IndexCache.Hit hit = new IndexCache.Hit();
  private final Children node = new Children(2 * CHILDREN);

  @AfterEach
  void close() {
    cache.close();
  }

  /** Admits the copy of a node that covers 100 keys, with children that cover 25 each. */
  private void admit(int number, int generation) {
    admit(node, number, generation, random, backoff);
  }

  private void admit(
      Children copy, int number, int generation, SplittableRandom draws, Backoff pauses) {
    copy.low = number * WIDTH;
    copy.high = copy.low + WIDTH - 1;
    copy.count = CHILDREN;
    for (int i = 0; i < CHILDREN; i++) {
      copy.keys[i] = copy.low + i * WIDTH / CHILDREN;
      copy.pointers[i] = child(number, i, generation);
    }
    cache.admit(copy, draws, pauses);
  }

  private static long child(int number, int index, int generation) {
    return GlobalAddress.of(1, (number * 4L + index) * 1_024 + generation * 8L);
  }

  private int listAfter(long key, long to, long[] children) {
    return cache.childrenBeside(key, to, false, children, backoff);
  }

  private int listBefore(long key, long to, long[] children) {
    return cache.childrenBeside(key, to, true, children, backoff);
  }

  @Test
  void shouldFindChildrenOfCopies() {
    assertThat(cache.find(0, hit, backoff)).isFalse();
    admit(3, 0);
    assertThat(cache.find(299, hit, backoff)).isFalse();
    assertThat(cache.find(400, hit, backoff)).isFalse();
    assertThat(cache.find(374, hit, backoff)).isTrue();
    assertThat(hit.child).isEqualTo(child(3, 2, 0));
    assertThat(hit.low).isEqualTo(350);
    assertThat(hit.high).isEqualTo(374);
    assertThat(cache.find(399, hit, backoff)).isTrue();
    assertThat(hit.high).isEqualTo(399);
  }

  @Test
  void shouldCountTheBytesOfCopies() {
    long copyBytes = 16 + 16 * CHILDREN;
    assertThat(cache.bytes()).isZero();
    admit(3, 0);
    admit(3, 1);
    admit(4, 0);
    assertThat(cache.bytes()).isEqualTo(2 * copyBytes);
    assertThat(cache.find(400, hit, backoff)).isTrue();
    cache.drop(hit, backoff);
    assertThat(cache.bytes()).isEqualTo(copyBytes);
    for (int number = 0; number < 2 * FRAMES; number++) {
      admit(number, 0);
    }
    assertThat(cache.bytes()).isEqualTo(FRAMES * copyBytes);
    cache.clear(backoff);
    assertThat(cache.bytes()).isZero();
  }

  @Test
  void shouldListTheChildrenThatFollow() {
    long[] children = new long[8];
    assertThat(listAfter(0, 99, children)).isZero();
    admit(0, 0);
    assertThat(listAfter(0, 99, children)).isEqualTo(3);
    assertThat(children[1]).isEqualTo(child(0, 1, 0));
    assertThat(children[3]).isEqualTo(child(0, 3, 0));
    assertThat(listAfter(30, 74, children)).isEqualTo(1);
    assertThat(listAfter(99, 1_000, children)).isZero();
    assertThat(listAfter(0, 99, new long[2])).isEqualTo(1);
  }

  @Test
  void shouldListTheChildrenOfCopiesSideBySide() {
    admit(0, 0);
    admit(1, 0);
    long[] children = new long[8];
    assertThat(listAfter(60, 174, children)).isEqualTo(4);
    assertThat(children)
        .containsSequence(child(0, 3, 0), child(1, 0, 0), child(1, 1, 0), child(1, 2, 0));
  }

  @Test
  void shouldListTheChildrenThatComeBefore() {
    long[] children = new long[8];
    assertThat(listBefore(199, 100, children)).isZero();
    admit(1, 0);
    assertThat(listBefore(199, 100, children)).isEqualTo(3);
    assertThat(children[1]).isEqualTo(child(1, 2, 0));
    assertThat(children[3]).isEqualTo(child(1, 0, 0));
    assertThat(listBefore(169, 125, children)).isEqualTo(1);
    assertThat(listBefore(169, 124, children)).isEqualTo(2);
    assertThat(listBefore(169, 150, children)).isZero();
    assertThat(listBefore(100, Long.MIN_VALUE, children)).isZero();
    assertThat(listBefore(199, 100, new long[2])).isEqualTo(1);
    admit(0, 0);
    assertThat(listBefore(149, 30, children)).isEqualTo(4);
    assertThat(children)
        .containsSequence(child(1, 0, 0), child(0, 3, 0), child(0, 2, 0), child(0, 1, 0));
  }

  @Test
  void shouldKeepTheChildrenOfAPartInSeveralCopies() {
    // The first child begins before the part.
    node.low = 10;
    node.high = 99;
    node.count = 6;
    for (int i = 0; i < node.count; i++) {
      node.keys[i] = i * 15L;
      node.pointers[i] = child(0, i, 0);
    }
    cache.admit(node, random, backoff);
    assertThat(cache.find(9, hit, backoff)).isFalse();
    assertThat(cache.find(10, hit, backoff)).isTrue();
    assertThat(hit.low).isZero();
    assertThat(hit.child).isEqualTo(child(0, 0, 0));
    assertThat(cache.find(59, hit, backoff)).isTrue();
    assertThat(hit.high).isEqualTo(59);
    assertThat(cache.find(60, hit, backoff)).isTrue();
    assertThat(hit.child).isEqualTo(child(0, 4, 0));
    assertThat(cache.find(99, hit, backoff)).isTrue();
    assertThat(hit.child).isEqualTo(child(0, 5, 0));
    long[] children = new long[8];
    assertThat(listAfter(10, 99, children)).isEqualTo(5);
    assertThat(children[5]).isEqualTo(child(0, 5, 0));
    assertThat(listBefore(99, Long.MIN_VALUE, children)).isEqualTo(5);
    assertThat(children[1]).isEqualTo(child(0, 4, 0));
    assertThat(children[5]).isEqualTo(child(0, 0, 0));
  }

  @Test
  void shouldListAChildOnceThatIsInTwoParts() {
    node.low = 10;
    node.high = 39;
    node.count = 3;
    for (int i = 0; i < node.count; i++) {
      node.keys[i] = i * 15L;
      node.pointers[i] = child(0, i, 0);
    }
    cache.admit(node, random, backoff);
    node.low = 40;
    node.high = 69;
    node.count = 3;
    for (int i = 0; i < node.count; i++) {
      node.keys[i] = (i + 2) * 15L;
      node.pointers[i] = child(0, i + 2, 0);
    }
    cache.admit(node, random, backoff);
    long[] children = new long[8];
    assertThat(listAfter(10, 69, children)).isEqualTo(4);
    assertThat(children).containsSequence(child(0, 1, 0), child(0, 2, 0), child(0, 3, 0));
    assertThat(listBefore(69, 10, children)).isEqualTo(4);
    assertThat(children)
        .containsSequence(child(0, 3, 0), child(0, 2, 0), child(0, 1, 0), child(0, 0, 0));
    assertThat(listBefore(50, 20, children)).isEqualTo(2);
    assertThat(listBefore(44, 20, children)).isEqualTo(1);
  }

  @Test
  void shouldReplaceAnOldCopy() {
    admit(1, 0);
    admit(1, 1);
    assertThat(cache.find(100, hit, backoff)).isTrue();
    assertThat(hit.child).isEqualTo(child(1, 0, 1));
    assertThat(cache.evictions()).isZero();
  }

  @Test
  void shouldDropTheCopyThatLedAstrayAndNoNewerOne() {
    admit(1, 0);
    IndexCache.Hit old = new IndexCache.Hit();
    assertThat(cache.find(100, old, backoff)).isTrue();
    admit(1, 1);
    cache.drop(old, backoff);
    assertThat(cache.find(100, hit, backoff)).isTrue();
    cache.drop(hit, backoff);
    cache.drop(hit, backoff);
    assertThat(cache.find(100, hit, backoff)).isFalse();
    for (int number = 0; number < FRAMES; number++) {
      admit(number, 2);
    }
    assertThat(cache.evictions()).as("a frame dropped twice").isZero();
    for (int number = 0; number < FRAMES; number++) {
      assertThat(cache.find(number * WIDTH, hit, backoff)).isTrue();
    }
  }

  @Test
  void shouldMakeRoomByEviction() {
    for (int number = 0; number < 100; number++) {
      admit(number, 0);
      assertThat(cache.find(number * WIDTH, hit, backoff)).isTrue();
    }
    assertThat(cache.evictions()).isEqualTo(100 - FRAMES);
    int found = 0;
    for (int number = 0; number < 100; number++) {
      found += cache.find(number * WIDTH, hit, backoff) ? 1 : 0;
    }
    assertThat(found).isEqualTo(FRAMES);
    cache.clear(backoff);
    for (int number = 0; number < 100; number++) {
      assertThat(cache.find(number * WIDTH, hit, backoff)).isFalse();
    }
  }

  @Test
  void shouldNeverMixCopiesUnderThreads() throws Exception {
    AtomicInteger writing = new AtomicInteger(2);
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int writer = 0; writer < 2; writer++) {
      SplittableRandom draws = random.split();
      tasks.add(() -> {
        Children copy = new Children(CHILDREN);
        IndexCache.Hit own = new IndexCache.Hit();
        Backoff pauses = new SpinBackoff();
        for (int i = 0; i < 100_000; i++) {
          int number = draws.nextInt(2 * FRAMES);
          if (draws.nextInt(4) > 0) {
            admit(copy, number, draws.nextInt(100), draws, pauses);
          } else if (cache.find(number * WIDTH, own, pauses)) {
            cache.drop(own, pauses);
          }
        }
        writing.decrementAndGet();
        return null;
      });
    }
    for (int reader = 0; reader < 2; reader++) {
      SplittableRandom draws = random.split();
      tasks.add(() -> {
        IndexCache.Hit own = new IndexCache.Hit();
        Backoff pauses = new SpinBackoff();
        while (writing.get() > 0) {
          long key = draws.nextInt((int) (2 * FRAMES * WIDTH));
          if (cache.find(key, own, pauses)) {
            long place = GlobalAddress.offset(own.child) / 1_024;
            assertThat(place).isEqualTo(key / (WIDTH / 4));
            assertThat(own.low).isEqualTo(place * (WIDTH / 4));
            assertThat(own.high).isEqualTo(own.low + WIDTH / 4 - 1);
          }
        }
        return null;
      });
    }
    Threads.run(tasks);
  }
}
