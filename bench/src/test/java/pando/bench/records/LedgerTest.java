package pando.bench.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LedgerTest {
  private final Ledger ledger = new Ledger(2);

  @Test
  void shouldBoundWhatAReaderMayFind() {
    assertThat(ledger.isUsed()).isFalse();
    int before = ledger.word(1);
    assertThat(Ledger.finished(before)).isZero();
    assertThat(Ledger.begun(before)).isZero();

    assertThat(ledger.beginUpdate(1)).isEqualTo(1);
    assertThat(Ledger.finished(ledger.word(1))).isZero();
    assertThat(Ledger.begun(ledger.word(1))).isEqualTo(1);

    ledger.endUpdate(1);
    assertThat(Ledger.finished(ledger.word(1))).isEqualTo(1);
    assertThat(Ledger.begun(ledger.word(1))).isEqualTo(1);
    assertThat(ledger.beginUpdate(1)).isEqualTo(2);
    assertThat(ledger.word(0)).isZero();
    assertThat(ledger.isUsed()).isTrue();
  }

  @Test
  void shouldHaveNoUpdatesOfRecordsThatItDoesNotKnow() {
    assertThat(ledger.word(2)).isZero();
    assertThat(ledger.word(1L << 40)).isZero();
  }

  @Test
  void shouldKeepUpdatesOfOneRecordApart() throws InterruptedException {
    long[] unprotected = new long[1];
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                for (int update = 0; update < 50_000; update++) {
                  ledger.beginUpdate(0);
                  unprotected[0]++;
                  ledger.endUpdate(0);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(unprotected[0]).isEqualTo(200_000);
    assertThat(Ledger.finished(ledger.word(0))).isEqualTo(200_000);
  }

  @Test
  void shouldRefuseMoreRecordsThanAnArrayHolds() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Ledger(1L << 31))
        .withMessageContaining("records=2147483648");
  }
}
