package pando.bench.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WindowsTest {
  @Test
  void shouldCountInMilliseconds() {
    AtomicLong admissions = new AtomicLong(7);
    Windows windows = new Windows(2_500_000);
    windows.record(0, admissions::get);
    admissions.set(9);
    windows.record(999_999, admissions::get);
    windows.record(1_000_000, admissions::get);
    windows.record(2_000_000, admissions::get);
    assertThat(windows.count()).isEqualTo(2);
    assertThat(windows.megaOps(0)).isEqualTo(0.002);
    assertThat(windows.megaOps(1)).isEqualTo(0.001);
    assertThat(windows.admissions(0)).isEqualTo(7);
    assertThat(windows.admissions(1)).isEqualTo(9);
  }
}
