package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.StalledException;
import pando.index.Pools;
import pando.index.Threads;

@Tag("campaign")
@Timeout(300)
class DeftNodeLocksTest {
  private static final long NODE = LockKit.NODE;
  private static final long LONG_WAIT = 60_000_000_000L;
  private static final long NO_WAIT = 1;
  private static final int TICKETS = 1 << 16;
  private static final int ROUNDS = 4_000;

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final Drains drains = new Drains();
  private final LockKit one = kit(1, false);
  private final LockKit two = kit(2, false);
  private final LockKit three = kit(3, false);

  private LockKit kit(int session, boolean casLocks) {
    return new LockKit(fabric, drains, casLocks, NO_WAIT, 4, session);
  }

  @AfterEach
  void close() {
    one.close();
    two.close();
    three.close();
    fabric.close();
  }

  private void giveUpExclusive(LockKit kit, long node) {
    assertThatThrownBy(() -> kit.lockExclusive(node)).isInstanceOf(StalledException.class);
  }

  private void giveUpShared(LockKit kit, long node) {
    assertThatThrownBy(() -> kit.lockShared(node)).isInstanceOf(StalledException.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReadBehindALockAndWriteBeforeItInOneRoundTrip(boolean casLocks) {
    try (LockKit kit = kit(5, casLocks)) {
      kit.changes(NODE, 42);
      kit.worker.post(kit.list);
      for (boolean exclusive : List.of(false, true)) {
        long before = kit.worker.counters().roundTrips;
        kit.reads(NODE);
        boolean holds =
            exclusive
                ? kit.locks.lockExclusive(NODE, kit.list)
                : kit.locks.lockShared(NODE, kit.list);
        assertThat(holds).isTrue();
        assertThat(kit.list.size()).as("the list is left as it is").isEqualTo(2);
        assertThat(kit.value(0)).isEqualTo(42);
        assertThat(kit.value(1)).isEqualTo(42);
        kit.locks.writeAndUnlock(NODE, kit.changes(NODE, 42));
        assertThat(kit.list.size()).isZero();
        assertThat(kit.worker.counters().roundTrips - before).isEqualTo(2);
        assertThat(SxWord.isIdle(kit.word(NODE))).isTrue();
      }
    }
  }

  @Test
  void shouldBeSharedByAnyAndExcludedByOne() {
    assertThat(one.lockShared(NODE)).isTrue();
    assertThat(two.lockShared(NODE)).isTrue();
    assertThat(three.locks.tryExclusive(NODE)).isFalse();
    one.locks.unlock(NODE);
    assertThat(three.locks.tryExclusive(NODE)).isFalse();
    two.locks.unlock(NODE);
    assertThat(three.locks.tryExclusive(NODE)).isTrue();
    assertThat(two.locks.tryExclusive(NODE)).isFalse();
    giveUpShared(two, NODE);
    giveUpExclusive(one, NODE);
    three.locks.unlock(NODE);
    assertThat(two.lockShared(NODE)).isTrue();
    two.locks.unlock(NODE);
    assertThat(one.lockExclusive(NODE)).isTrue();
    one.locks.unlock(NODE);
    assertThat(one.lockExclusive(NODE)).isTrue();
    one.locks.unlock(NODE);
    assertThat(drains.abandoned.areThere()).isFalse();
  }

  @Test
  void shouldUpgrade() {
    assertThat(one.lockShared(NODE)).isTrue();
    assertThat(one.upgrade(NODE)).isTrue();
    assertThat(two.locks.tryExclusive(NODE)).isFalse();
    assertThat(one.upgrade(NODE)).as("it has it").isTrue();
    one.locks.unlock(NODE);
    assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
  }

  @Test
  void shouldNotHoldWhatItFailedToUpgrade() {
    assertThat(one.lockShared(NODE)).isTrue();
    assertThat(two.lockShared(NODE)).isTrue();
    assertThatThrownBy(() -> two.upgrade(NODE)).isInstanceOf(StalledException.class);
    two.locks.abandon(new IllegalStateException());
    one.locks.unlock(NODE);
    assertThat(three.lockShared(NODE)).as("behind the one that gave up").isTrue();
    three.locks.unlock(NODE);
    assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
    assertThat(drains.abandoned.areThere()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldTakeAWordOnceForTwoNodes(boolean casLocks) {
    long[] twins = LockKit.twins(fabric);
    try (LockKit kit = kit(5, casLocks)) {
      assertThat(kit.lockExclusive(twins[0])).isTrue();
      long before = kit.worker.counters().roundTrips;
      assertThat(kit.lockExclusive(twins[1])).isTrue();
      assertThat(kit.locks.tryExclusive(twins[1])).isTrue();
      assertThat(kit.lockShared(twins[0])).isTrue();
      kit.locks.unlock(twins[0]);
      kit.locks.unlock(twins[1]);
      kit.locks.unlock(twins[1]);
      assertThat(kit.worker.counters().roundTrips).as("no verb").isEqualTo(before);
      assertThat(two.locks.tryExclusive(twins[1])).isFalse();
      kit.locks.unlock(twins[0]);
      assertThat(SxWord.isIdle(kit.word(twins[0]))).isTrue();
      assertThat(two.locks.tryExclusive(twins[1])).isTrue();
    }
  }

  @Test
  void shouldUpgradeAWordForTheSecondNode() {
    long[] twins = LockKit.twins(fabric);
    assertThat(one.lockShared(twins[0])).isTrue();
    assertThat(one.lockShared(twins[1])).isTrue();
    assertThat(one.lockExclusive(twins[1])).isTrue();
    one.locks.unlock(twins[1]);
    one.locks.unlock(twins[1]);
    giveUpShared(two, twins[0]);
    one.locks.unlock(twins[0]);
    assertThat(two.lockShared(twins[0])).isTrue();
    assertThat(two.locks.tryExclusive(twins[1])).as("alone in it").isTrue();
    giveUpShared(one, twins[0]);
    two.locks.unlock(twins[0]);
    two.locks.unlock(twins[0]);
    two.locks.settle();
    assertThat(SxWord.isIdle(one.word(twins[0]))).isTrue();
  }

  @Test
  void shouldNotTryForWhatAnotherShares() {
    assertThat(one.lockShared(NODE)).isTrue();
    assertThat(two.lockShared(NODE)).isTrue();
    assertThat(two.locks.tryExclusive(NODE)).isFalse();
    two.locks.unlock(NODE);
    assertThat(one.locks.tryExclusive(NODE)).isTrue();
    one.locks.unlock(NODE);
    one.locks.unlock(NODE);
    assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"false, false", "false, true", "true, false", "true, true"})
  void shouldTellWhatItWaitedFor(boolean held, boolean wanted) {
    one.setWord(NODE, 0x0007_0007_FFFF_FFFFL);
    assertThat(held ? one.lockExclusive(NODE) : one.lockShared(NODE)).isTrue();
    if (!held && !wanted) {
      assertThat(two.lockShared(NODE)).isTrue();
      return;
    }
    String counters =
        held
            ? "X_CUR=7, X_TIC=" + (wanted ? 9 : 8) + ", S_CUR=65535, S_TIC=" + (wanted ? 65535 : 0)
            : "X_CUR=7, X_TIC=8, S_CUR=65535, S_TIC=0";
    assertThatThrownBy(
            () -> {
              if (wanted) {
                two.lockExclusive(NODE);
              } else {
                two.lockShared(NODE);
              }
            })
        .isInstanceOf(StalledException.class)
        .hasMessageContainingAll(
            "node=" + GlobalAddress.toString(NODE),
            "lock=" + GlobalAddress.toString(one.wordOf(NODE)),
            counters,
            "wanted=" + (wanted ? "exclusive" : "shared"),
            "xTicket=" + (held ? 8 : 7) + ", sTicket=" + (held ? 65535 : 0),
            "waitedNanos=");
  }

  @Test
  void shouldWorkAgainWhenTheHolderLetsGoAtLast() {
    assertThat(one.lockShared(NODE)).isTrue();
    giveUpExclusive(two, NODE);
    giveUpShared(three, NODE);
    giveUpExclusive(three, NODE);
    giveUpShared(two, NODE);
    assertThat(drains.abandoned.count()).as("one of each mode").isEqualTo(2);
    one.locks.unlock(NODE);
    assertThat(three.lockShared(NODE)).as("in place of the one that gave up").isTrue();
    three.locks.unlock(NODE);
    assertThat(two.lockExclusive(NODE)).isTrue();
    two.locks.unlock(NODE);
    assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
  }

  /** Other compute servers know nothing of the tickets that were given up here. */
  @Test
  void shouldLetGoForThoseElsewhere() {
    try (LockKit elsewhere = new LockKit(fabric, new Drains(), false, NO_WAIT, 5, 1)) {
      assertThat(one.lockExclusive(NODE)).isTrue();
      giveUpShared(two, NODE);
      giveUpExclusive(three, NODE);
      one.locks.unlock(NODE);
      giveUpExclusive(elsewhere, NODE);
      assertThat(two.locks.tryExclusive(NODE)).as("settles, then there is another").isFalse();
      assertThat(drains.abandoned.areThere()).isFalse();
      assertThat(elsewhere.lockExclusive(NODE)).isTrue();
      elsewhere.locks.unlock(NODE);
      assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
    }
  }

  @Test
  void shouldLookAfterOtherWordsNowAndThen() {
    assertThat(one.lockExclusive(NODE)).isTrue();
    giveUpShared(two, NODE);
    one.locks.unlock(NODE);
    long other = LockKit.node(1);
    assertThat(one.wordOf(other)).isNotEqualTo(one.wordOf(NODE));
    for (int i = 0; i < 64; i++) {
      assertThat(one.lockShared(other)).isTrue();
      one.locks.unlock(other);
    }
    assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
    assertThat(drains.abandoned.areThere()).isFalse();
  }

  @Test
  void shouldSettleWhenASessionCloses() {
    List<Long> nodes = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      nodes.add(LockKit.node(i));
    }
    nodes.forEach(one::lockExclusive);
    for (long node : nodes) {
      giveUpShared(two, node);
      giveUpExclusive(three, node);
    }
    two.locks.settle();
    assertThat(drains.abandoned.count()).as("no turn has come").isEqualTo(10);
    nodes.forEach(one.locks::unlock);
    two.locks.settle();
    assertThat(drains.abandoned.areThere()).isFalse();
    assertThat(nodes).allSatisfy(node -> assertThat(SxWord.isIdle(one.word(node))).isTrue());
  }

  @Test
  void shouldNotLetTicketsAddUp() {
    assertThat(one.lockShared(NODE)).isTrue();
    for (int i = 0; i < 20; i++) {
      giveUpExclusive(two, NODE);
      giveUpShared(two, NODE);
    }
    long word = one.word(NODE);
    assertThat(SxWord.xTicket(word)).isEqualTo(1);
    assertThat(SxWord.sTicket(word)).isEqualTo(2);
    one.locks.unlock(NODE);
    one.locks.settle();
    assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
  }

  @Test
  void shouldWorkWhereCountersWrap() {
    for (int i = 0; i < TICKETS + 10; i++) {
      assertThat(one.lockExclusive(NODE)).isTrue();
      one.locks.unlock(NODE);
      assertThat(one.lockShared(NODE)).isTrue();
      assertThat(two.lockShared(NODE)).isTrue();
      two.locks.unlock(NODE);
      one.locks.unlock(NODE);
    }
    long word = one.word(NODE);
    assertThat(SxWord.isIdle(word)).isTrue();
    assertThat(SxWord.xTicket(word)).isEqualTo(10);
    assertThat(SxWord.sTicket(word)).isEqualTo(20);
  }

  @Test
  void shouldUpgradeAndTryWhereCountersWrap() {
    for (int i = 0; i < TICKETS + 10; i++) {
      assertThat(one.lockShared(NODE)).isTrue();
      assertThat(i % 2 == 0 ? one.upgrade(NODE) : one.locks.tryExclusive(NODE)).isTrue();
      one.locks.unlock(NODE);
      if (i % 2 == 1) {
        one.locks.unlock(NODE);
      }
      assertThat(two.locks.tryExclusive(NODE)).isTrue();
      two.locks.unlock(NODE);
    }
    long word = one.word(NODE);
    assertThat(SxWord.isIdle(word)).isTrue();
    assertThat(SxWord.xTicket(word)).isEqualTo(20);
    assertThat(SxWord.sTicket(word)).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldAbandonAll(boolean casLocks) {
    try (LockKit kit = kit(5, casLocks)) {
      List<Long> nodes = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        nodes.add(LockKit.node(i));
        assertThat(i % 2 == 0 ? kit.lockShared(nodes.get(i)) : kit.lockExclusive(nodes.get(i)))
            .isTrue();
        assertThat(kit.locks.tryExclusive(nodes.get(i))).isTrue();
      }
      IllegalStateException failure = new IllegalStateException();
      kit.locks.abandon(failure);
      assertThat(failure).hasNoSuppressedExceptions();
      assertThat(nodes).allSatisfy(node -> assertThat(SxWord.isIdle(kit.word(node))).isTrue());
    }
  }

  /** A verb that fails ends its list: the unlock behind it is still to be done. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldLetGoWhereAChangeFails(boolean casLocks) {
    try (LockKit kit = kit(5, casLocks)) {
      for (boolean exclusive : List.of(false, true)) {
        assertThat(exclusive ? kit.lockExclusive(NODE) : kit.lockShared(NODE)).isTrue();
        long outside = GlobalAddress.of(0, 1L << 40);
        kit.list.clear().write(outside, 0, 8);
        assertThatThrownBy(() -> kit.locks.writeAndUnlock(NODE, kit.list))
            .isInstanceOfSatisfying(InvalidAddressException.class, kit.locks::abandon);
        assertThat(SxWord.isIdle(kit.word(NODE))).isTrue();
      }
    }
  }

  @Test
  void shouldLeaveLockedWhatItKeeps() {
    assertThat(one.lockExclusive(NODE)).isTrue();
    one.locks.keep();
    one.locks.abandon(new IllegalStateException());
    assertThat(two.locks.tryExclusive(NODE)).isFalse();
  }

  @Test
  void shouldBeExclusiveAndNameTheHolderWithCas() {
    try (LockKit a = kit(7, true);
        LockKit b = kit(8, true)) {
      assertThat(a.lockShared(NODE)).isTrue();
      assertThat(a.word(NODE)).isEqualTo(Long.MIN_VALUE | (5L << 9) | 7);
      assertThatThrownBy(() -> b.lockShared(NODE))
          .isInstanceOf(StalledException.class)
          .hasMessageContainingAll(
              "node=" + GlobalAddress.toString(NODE),
              "lock=" + GlobalAddress.toString(a.wordOf(NODE)),
              "holder=computeServer 4 session 7",
              "waitedNanos=");
      assertThat(b.locks.tryExclusive(NODE)).isFalse();
      assertThat(a.upgrade(NODE)).isTrue();
      b.locks.abandon(new IllegalStateException());
      assertThat(b.locks.tryExclusive(NODE)).as("not another's").isFalse();
      a.locks.unlock(NODE);
      assertThat(b.lockExclusive(NODE)).isTrue();
      b.locks.unlock(NODE);
      assertThat(a.word(NODE)).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldExcludeThreads(boolean casLocks) throws Exception {
    Inside[] inside = {new Inside(), new Inside()};
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int thread = 0; thread < 4; thread++) {
      int session = thread;
      tasks.add(() -> {
        try (LockKit kit = new LockKit(fabric, drains, casLocks, LONG_WAIT, 0, session)) {
          for (int i = 0; i < ROUNDS; i++) {
            takeTurn(kit, LockKit.node(i % 2), inside[i % 2], (i / 2 + session) % 5);
          }
        }
        return null;
      });
    }
    Threads.run(tasks);
    for (int i = 0; i < 2; i++) {
      assertThat(inside[i].changes).isPositive();
      assertThat(SxWord.isIdle(one.word(LockKit.node(i)))).isTrue();
    }
  }

  private static void takeTurn(LockKit kit, long node, Inside inside, int kind) {
    switch (kind) {
      case 0, 1 -> {
        kit.lockShared(node);
        inside.share();
      }
      case 2 -> {
        kit.lockShared(node);
        inside.share();
        kit.upgrade(node);
        inside.change();
      }
      case 3 -> {
        kit.lockExclusive(node);
        inside.change();
      }
      default -> {
        if (!kit.locks.tryExclusive(node)) {
          return;
        }
        inside.change();
      }
    }
    kit.locks.unlock(node);
  }

  /** Who is inside a lock. */
  private static final class Inside {
    private static final int EXCLUSIVE = 1 << 20;

    private final AtomicInteger count = new AtomicInteger();
    private int changes;

    void share() {
      assertThat(count.getAndIncrement()).isLessThan(EXCLUSIVE);
      count.decrementAndGet();
    }

    void change() {
      assertThat(count.getAndSet(EXCLUSIVE)).isZero();
      changes++;
      count.set(0);
    }
  }
}
