package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.baselines.deft.LossyWorker.Loss;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList.Kind;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.Pools;

/**
 * Nobody can tell whether a verb took effect: locks may stay locked, and let nobody in too early.
 */
@Tag("campaign")
@Timeout(300)
class LostVerbsTest {
  private static final long NODE = LockKit.NODE;
  private static final long NO_WAIT = 1;

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final Drains drains = new Drains();
  private final LockKit one = kit(1, false);
  private final LockKit two = kit(2, false);

  private LockKit kit(int session, boolean casLocks) {
    return new LockKit(fabric, drains, casLocks, NO_WAIT, 4, session);
  }

  @AfterEach
  void close() {
    one.close();
    two.close();
    fabric.close();
  }

  private static void loseUnlock(LockKit kit, Loss... losses) {
    for (Loss loss : losses) {
      kit.losses.lose(loss);
    }
    assertThatThrownBy(() -> kit.locks.unlock(NODE))
        .isInstanceOfSatisfying(UnknownOutcomeException.class, kit.locks::abandon);
  }

  @ParameterizedTest
  @CsvSource({
    "AFTER_EFFECT,  NONE,          NONE",
    "BEFORE_EFFECT, NONE,          NONE",
    "AFTER_EFFECT,  AFTER_EFFECT,  NONE",
    "BEFORE_EFFECT, AFTER_EFFECT,  NONE",
    "BEFORE_EFFECT, BEFORE_EFFECT, AFTER_EFFECT",
  })
  void shouldLetGoOfAnExclusiveLockOnce(Loss first, Loss second, Loss third) {
    assertThat(one.lockExclusive(NODE)).isTrue();
    loseUnlock(one, first, second, third);
    long word = two.word(NODE);
    assertThat(SxWord.isIdle(word)).as(SxWord.toString(word)).isTrue();
    assertThat(SxWord.xCurrent(word)).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "AFTER_EFFECT,  NONE",
    "BEFORE_EFFECT, NONE",
    "BEFORE_EFFECT, AFTER_EFFECT",
    "BEFORE_EFFECT, BEFORE_EFFECT",
  })
  void shouldLetGoOfACasLockUnlessAnotherHasIt(Loss first, Loss second) {
    try (LockKit a = kit(7, true);
        LockKit b = kit(8, true)) {
      assertThat(a.lockExclusive(NODE)).isTrue();
      loseUnlock(a, first, second);
      assertThat(a.word(NODE)).isZero();
      assertThat(b.lockExclusive(NODE)).isTrue();
      long owned = b.word(NODE);
      a.locks.abandon(new IllegalStateException());
      assertThat(b.word(NODE)).isEqualTo(owned);
    }
  }

  /** Two share; the one whose unlock was lost must not let go for the other. */
  @ParameterizedTest
  @EnumSource(
      value = Loss.class,
      names = {"AFTER_EFFECT", "BEFORE_EFFECT"})
  void shouldNotLetGoOfASharedLockTwice(Loss loss) {
    assertThat(one.lockShared(NODE)).isTrue();
    assertThat(two.lockShared(NODE)).isTrue();
    loseUnlock(one, loss, Loss.NONE);
    assertThat(SxWord.sCurrent(two.word(NODE))).isEqualTo(loss == Loss.AFTER_EFFECT ? 1 : 0);
    assertThat(one.locks.tryExclusive(NODE)).isFalse();
    assertThatThrownBy(() -> one.lockExclusive(NODE)).isInstanceOf(StalledException.class);
    two.locks.unlock(NODE);
    if (loss == Loss.AFTER_EFFECT) {
      assertThat(one.lockExclusive(NODE)).isTrue();
    } else {
      assertThatThrownBy(() -> one.lockExclusive(NODE))
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("X_CUR=0, X_TIC=1, S_CUR=1, S_TIC=2");
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Loss.class,
      names = {"AFTER_EFFECT", "BEFORE_EFFECT"})
  void shouldNotHoldWhatItMayHaveTaken(Loss loss) {
    one.losses.lose(loss);
    assertThatThrownBy(() -> one.lockExclusive(NODE))
        .isInstanceOfSatisfying(UnknownOutcomeException.class, one.locks::abandon);
    assertThat(SxWord.xCurrent(two.word(NODE))).isZero();
    assertThat(two.locks.tryExclusive(NODE)).isEqualTo(loss == Loss.BEFORE_EFFECT);
  }

  @ParameterizedTest
  @EnumSource(
      value = Loss.class,
      names = {"AFTER_EFFECT", "BEFORE_EFFECT"})
  void shouldNotHoldWhatItMayHaveUpgraded(Loss loss) {
    assertThat(two.lockShared(NODE)).isTrue();
    assertThat(one.lockShared(NODE)).isTrue();
    one.losses.lose(loss);
    assertThatThrownBy(() -> one.upgrade(NODE))
        .isInstanceOfSatisfying(UnknownOutcomeException.class, one.locks::abandon);
    assertThat(SxWord.sCurrent(two.word(NODE))).isEqualTo(loss == Loss.AFTER_EFFECT ? 1 : 0);
    assertThat(two.locks.tryExclusive(NODE)).isFalse();
  }

  @ParameterizedTest
  @EnumSource(
      value = Loss.class,
      names = {"AFTER_EFFECT", "BEFORE_EFFECT"})
  void shouldTakeBackTheCasLockThatItMayHaveTaken(Loss loss) {
    try (LockKit kit = kit(7, true)) {
      kit.losses.lose(loss);
      assertThatThrownBy(() -> kit.lockShared(NODE))
          .isInstanceOfSatisfying(UnknownOutcomeException.class, kit.locks::abandon);
      assertThat(kit.word(NODE)).isZero();
      kit.losses.lose(loss);
      assertThatThrownBy(() -> kit.locks.tryExclusive(NODE))
          .isInstanceOfSatisfying(UnknownOutcomeException.class, kit.locks::abandon);
      assertThat(kit.word(NODE)).isZero();
    }
  }

  /** The ticket of one who gave up is let go of by another, once. */
  @ParameterizedTest
  @EnumSource(
      value = Loss.class,
      names = {"AFTER_EFFECT", "BEFORE_EFFECT"})
  void shouldSettleAnExclusiveTicketOnce(Loss loss) {
    assertThat(one.lockExclusive(NODE)).isTrue();
    assertThatThrownBy(() -> two.lockExclusive(NODE)).isInstanceOf(StalledException.class);
    one.locks.unlock(NODE);
    one.losses.lose(loss);
    one.locks.settle();
    assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
    assertThat(SxWord.xCurrent(one.word(NODE))).isEqualTo(2);
  }

  @Test
  void shouldNotSettleASharedTicketTwice() {
    assertThat(one.lockExclusive(NODE)).isTrue();
    assertThatThrownBy(() -> two.lockShared(NODE)).isInstanceOf(StalledException.class);
    one.locks.unlock(NODE);
    one.losses.lose(Loss.AFTER_EFFECT);
    assertThatThrownBy(one.locks::settle).isInstanceOf(UnknownOutcomeException.class);
    two.locks.settle();
    assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
    assertThat(SxWord.sCurrent(one.word(NODE))).isEqualTo(1);
  }

  /** What a list has taken is known, whatever fails behind it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReleaseATicketWhereTheReadsBehindItFail(boolean waits) {
    HookedFabric hooked = new HookedFabric(fabric);
    try (LockKit kit = new LockKit(hooked, drains, false, NO_WAIT, 4, 5)) {
      for (Access access : Access.values()) {
        boolean upgrades = access == Access.UPGRADE;
        if (upgrades) {
          assertThat(kit.lockShared(NODE)).isTrue();
        }
        boolean held = waits && (upgrades ? one.lockShared(NODE) : one.lockExclusive(NODE));
        hooked.hookNext(
            verbs -> verbs.kind(0) == Kind.MASKED_FAA,
            taking -> {
              taking.postFirst(1);
              throw Break.lost();
            });
        assertThatThrownBy(() -> access.take(kit))
            .isInstanceOfSatisfying(MemoryServerLostException.class, kit.locks::abandon);
        if (held) {
          one.locks.unlock(NODE);
          one.locks.settle();
        }
        long word = one.word(NODE);
        assertThat(SxWord.isIdle(word)).as("%s: %s", access, SxWord.toString(word)).isTrue();
      }
    }
  }

  private enum Access {
    SHARED,
    EXCLUSIVE,
    UPGRADE;

    private void take(LockKit kit) {
      switch (this) {
        case SHARED -> kit.locks.lockShared(NODE, kit.reads(NODE));
        case EXCLUSIVE -> kit.locks.lockExclusive(NODE, kit.reads(NODE));
        case UPGRADE -> kit.locks.upgrade(NODE, kit.reads(NODE));
      }
    }
  }

  @Test
  void shouldStayAsItIsWhereAnUpgradeIsKnownToBeLost() {
    HookedFabric hooked = new HookedFabric(fabric);
    try (LockKit kit = new LockKit(hooked, drains, false, NO_WAIT, 4, 5)) {
      assertThat(kit.lockShared(NODE)).isTrue();
      hooked.hookNext(
          verbs -> verbs.kind(0) == Kind.MASKED_FAA,
          upgrade -> {
            throw Break.lost();
          });
      assertThatThrownBy(() -> kit.upgrade(NODE)).isInstanceOf(MemoryServerLostException.class);
      assertThat(one.locks.tryExclusive(NODE)).isFalse();
      kit.locks.unlock(NODE);
      assertThat(one.locks.tryExclusive(NODE)).isTrue();
    }
  }

  @Test
  void shouldHandItsTicketOnWhereWaitingFails() {
    HookedFabric hooked = new HookedFabric(fabric);
    try (LockKit kit = new LockKit(hooked, drains, false, NO_WAIT, 4, 5)) {
      assertThat(one.lockExclusive(NODE)).isTrue();
      hooked.hookNext(
          verbs -> verbs.size() > 0 && verbs.kind(0) == Kind.READ,
          poll -> {
            throw new StackOverflowError("by a test");
          });
      assertThatThrownBy(() -> kit.lockExclusive(NODE)).isInstanceOf(StackOverflowError.class);
      one.locks.unlock(NODE);
      one.locks.settle();
      assertThat(SxWord.isIdle(one.word(NODE))).isTrue();
    }
  }
}
