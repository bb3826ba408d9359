package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.GlobalAddress;
import pando.index.Seeds;

@Tag("campaign")
class ChildPointerTest {
  private static final int ROUNDS = 10_000;
  private static final int UNIT = 64;

  private static void check(long address, int shape, int commit, int data) {
    long pointer = ChildPointer.withData(ChildPointer.toInner(address, shape, commit), data);
    assertThat(pointer).as("bit 63 is a leaf's").isNotNegative();
    assertThat(ChildPointer.address(pointer)).isEqualTo(address);
    assertThat(ChildPointer.shape(pointer)).isEqualTo(shape);
    assertThat(ChildPointer.commit(pointer)).isEqualTo(commit);
    assertThat(ChildPointer.data(pointer)).isEqualTo(data);
    assertThat(ChildPointer.isNull(pointer)).isFalse();
    long leaf = ChildPointer.withData(ChildPointer.toLeaf(address), data);
    assertThat(leaf).isNotNegative();
    assertThat(ChildPointer.address(leaf)).isEqualTo(address);
    assertThat(ChildPointer.data(leaf)).isEqualTo(data);
    assertThat(ChildPointer.isNull(leaf)).isFalse();
  }

  @Test
  void shouldNameAnyPlaceWithAnyShapeAndVersions() {
    SplittableRandom random = new SplittableRandom(Seeds.of(901));
    for (int i = 0; i < ROUNDS; i++) {
      long offset = random.nextLong(1, ChildPointer.DRAM_BYTES_MAX / UNIT) * UNIT;
      check(
          GlobalAddress.of(random.nextInt(ChildPointer.SERVERS_MAX), offset),
          random.nextInt(DeftShape.MAX + 1),
          random.nextInt(ChildPointer.VERSION_MASK + 1),
          random.nextInt(ChildPointer.VERSION_MASK + 1));
    }
  }

  @ParameterizedTest(name = "server={0} offset={1}")
  @CsvSource({
    "0,    64",
    "0,    1099511627712",
    "1,    0",
    "16,   65536",
    "17,   64",
    "1023, 0",
    "1023, 1099511627712",
  })
  void shouldNameTheFirstAndTheLastPlace(int server, long offset) {
    long address = GlobalAddress.of(server, offset);
    check(address, DeftShape.WHOLE, 0, 0);
    check(address, DeftShape.MAX, ChildPointer.VERSION_MASK, ChildPointer.VERSION_MASK);
    check(address, DeftShape.MAX, 0, 0);
    check(address, DeftShape.WHOLE, ChildPointer.VERSION_MASK, 0);
    check(address, DeftShape.WHOLE, 0, ChildPointer.VERSION_MASK);
  }

  @Test
  void shouldLeadNowhereWithoutAPlaceWhateverItsVersion() {
    for (int version = 0; version <= ChildPointer.VERSION_MASK; version++) {
      long pointer = ChildPointer.withData(ChildPointer.NONE, version);
      assertThat(ChildPointer.isNull(pointer)).isTrue();
      assertThat(ChildPointer.address(pointer)).isEqualTo(GlobalAddress.NULL);
      assertThat(ChildPointer.data(pointer)).isEqualTo(version);
    }
  }

  @Test
  void shouldReplaceTheDataVersionAlone() {
    long pointer = ChildPointer.toInner(GlobalAddress.of(1023, UNIT), DeftShape.MAX, 63);
    long full = ChildPointer.withData(pointer, 63);
    assertThat(ChildPointer.withData(full, 0)).isEqualTo(pointer);
    assertThat(ChildPointer.withData(ChildPointer.withData(full, 21), 63)).isEqualTo(full);
  }
}
