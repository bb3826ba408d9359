package pando.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import pando.cli.WrongResultException;

final class KeyHistoryTest {
  private final Losses losses = new Losses(_ -> {}, Duration.ZERO);
  private final KeyHistory history = new KeyHistory(5);

  private int find(int version) {
    return history.found(version, losses, losses.certain());
  }

  private void write(int count) {
    for (int i = 0; i < count; i++) {
      history.acknowledged(history.next());
    }
  }

  private void lose(long low, long high) {
    List<Losses.Range> keys = List.of(new Losses.Range(low, high));
    losses.announce(keys, keys);
    losses.haveComeAbout();
  }

  private void assertWrong(int version) {
    assertThatThrownBy(() -> find(version)).isInstanceOf(WrongResultException.class);
  }

  @Test
  void shouldTakeNothingButTheLastWriteWithoutALoss() {
    assertThat(find(KeyHistory.ABSENT)).isZero();
    write(3);
    assertThat(find(3)).isZero();
    assertWrong(2);
    assertWrong(4);
    assertWrong(KeyHistory.ABSENT);
    history.acknowledged(-history.next());
    assertThat(find(KeyHistory.ABSENT)).isZero();
    assertWrong(3);
  }

  @Test
  void shouldGoBackOnceForEachLoss() {
    write(4);
    lose(0, 9);
    assertThat(find(2)).isEqualTo(2);
    assertWrong(4);
    assertWrong(1);
    write(2);
    assertWrong(2);
    lose(0, 9);
    assertThat(find(5)).isEqualTo(1);
    lose(0, 9);
    assertWrong(2);
    assertWrong(KeyHistory.ABSENT);
    assertThat(find(5)).isZero();
  }

  @Test
  void shouldKnowHowOldTheOldestLostWriteWas() {
    write(1);
    long before = System.nanoTime();
    write(3);
    lose(6, 9);
    lose(0, 9);
    long sinceWrites = System.nanoTime() - before;
    lose(0, 9);
    assertThat(find(1)).isEqualTo(3);
    assertThat(history.lostNanos()).isPositive().isLessThan(sinceWrites);
  }

  @Test
  void shouldNotGoBackForALossOfOtherKeys() {
    write(2);
    lose(6, 9);
    assertWrong(1);
    assertThat(find(2)).isZero();
  }

  @Test
  void shouldTakeBothStatesWhileALossComesAbout() {
    write(2);
    List<Losses.Range> keys = List.of(new Losses.Range(5, 5));
    losses.announce(keys, keys);
    assertThat(find(2)).isZero();
    losses.haveComeAbout();
    assertThat(find(1)).isEqualTo(1);
    assertWrong(2);
  }

  @Test
  void shouldKnowNothingOfThePoolWhereTheOwnerMayHaveLived() {
    write(3);
    losses.announce(List.of(new Losses.Range(0, 9)), List.of());
    losses.haveComeAbout();
    assertThat(find(3)).isZero();
    assertWrong(2);
    lose(0, 9);
    assertThat(find(1)).isEqualTo(2);
  }

  @Test
  void shouldWaitForALossThatWasNotForeseen() {
    List<Losses.Range> keys = List.of(new Losses.Range(0, 9));
    AtomicInteger looks = new AtomicInteger();
    Losses waiting =
        new Losses(
            own -> {
              if (looks.incrementAndGet() == 2) {
                own.announceUnforeseen(keys);
              }
            },
            Duration.ofMinutes(1));
    write(3);
    assertThat(history.found(2, waiting, 0)).isEqualTo(1);
    assertThat(looks).hasValue(2);
  }

  @Test
  void shouldTakeAWriteOfUnknownOutcomeOrNot() {
    write(1);
    history.unknown(history.next());
    assertThat(find(1)).isZero();
    assertThat(find(2)).isZero();
    assertWrong(1);
    history.unknown(history.next());
    history.settle();
    assertWrong(3);
  }
}
