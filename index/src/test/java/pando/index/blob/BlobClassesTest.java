package pando.index.blob;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BlobClassesTest {
  @Test
  void shouldBeMultiplesOf64InAscendingOrder() {
    BlobClasses classes = new BlobClasses(8 << 20);
    assertThat(classes.count()).isLessThanOrEqualTo(1 << BlobClasses.BITS);
    assertThat(classes.bytesMax()).isEqualTo(BlobClasses.BYTES_MAX);
    for (int number = 0; number < classes.count(); number++) {
      assertThat(classes.bytes(number) % 64).isZero();
      assertThat(classes.of(classes.bytes(number))).isEqualTo(number);
    }
  }

  @Test
  void shouldTakeTheLeastThatIsEnough() {
    BlobClasses classes = new BlobClasses(8 << 20);
    for (int bytes = 1; bytes <= classes.bytesMax(); bytes++) {
      int number = classes.of(bytes);
      assertThat(classes.bytes(number)).isGreaterThanOrEqualTo(bytes);
      assertThat(number == 0 || classes.bytes(number - 1) < bytes).isTrue();
      if (bytes > 512) {
        assertThat(classes.bytes(number) - bytes).isLessThanOrEqualTo(classes.bytes(number) / 5);
      }
    }
  }

  @Test
  void shouldFitIntoSmallChunks() {
    assertThat(new BlobClasses(4096).bytesMax()).isEqualTo(512);
    assertThat(new BlobClasses(64 << 10).bytesMax()).isEqualTo(8 << 10);
    assertThat(new BlobClasses(512).count()).isEqualTo(1);
  }
}
