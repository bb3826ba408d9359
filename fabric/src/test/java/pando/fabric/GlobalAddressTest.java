package pando.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GlobalAddressTest {
  private static final long SEED = 0x5EED_0001L;

  @Test
  void shouldReturnWhatItWasMadeOf() {
    System.out.println("seed=" + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 100_000; i++) {
      int server = random.nextInt(GlobalAddress.SERVERS_MAX);
      long offset = random.nextLong(1L << 47) >>> random.nextInt(47);
      long address = GlobalAddress.of(server, offset);
      assertThat(GlobalAddress.server(address)).isEqualTo(server);
      assertThat(GlobalAddress.offset(address)).isEqualTo(offset);
      assertThat(GlobalAddress.isOnChip(address)).isFalse();
      assertThat(GlobalAddress.isSwizzled(address)).isFalse();
      long onChip = GlobalAddress.onChip(server, offset);
      assertThat(GlobalAddress.server(onChip)).isEqualTo(server);
      assertThat(GlobalAddress.offset(onChip)).isEqualTo(offset);
      assertThat(GlobalAddress.isOnChip(onChip)).isTrue();
      assertThat(GlobalAddress.isSwizzled(onChip | GlobalAddress.SWIZZLED)).isTrue();
    }
  }

  @Test
  void shouldRefuseWhatDoesNotFit() {
    assertThatThrownBy(() -> GlobalAddress.of(-1, 0)).hasMessageContaining("server=-1");
    assertThatThrownBy(() -> GlobalAddress.of(1 << 15, 0)).hasMessageContaining("server=32768");
    assertThatThrownBy(() -> GlobalAddress.of(0, -1)).hasMessageContaining("offset=-1");
    assertThatThrownBy(() -> GlobalAddress.of(0, 1L << 47))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldReadWell() {
    assertThat(GlobalAddress.toString(GlobalAddress.of(3, 0x1f400))).isEqualTo("3:0x1f400");
    assertThat(GlobalAddress.toString(GlobalAddress.onChip(0, 64))).isEqualTo("0:chip:0x40");
  }
}
