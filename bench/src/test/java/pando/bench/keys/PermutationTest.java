package pando.bench.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

final class PermutationTest {
  @Test
  void shouldGiveEachRecordAPlaceOfItsOwn() {
    for (int size = 1; size <= 1_030; size++) {
      Permutation permutation = new Permutation(size, size % 3);
      BitSet places = new BitSet();
      for (int record = 0; record < size; record++) {
        long place = permutation.place(record);
        assertThat(place).isBetween(0L, size - 1L);
        assertThat(permutation.record(place)).isEqualTo(record);
        places.set((int) place);
      }
      assertThat(places.cardinality()).isEqualTo(size);
    }
  }

  @Test
  void shouldHaveNoPlacesBeyondItsSize() {
    Permutation permutation = new Permutation(1_000, 1);
    assertThat(permutation.record(1_000)).isNegative();
    assertThat(permutation.record(-1)).isNegative();
    assertThatIllegalStateException()
        .isThrownBy(() -> permutation.place(1_000))
        .withMessageContaining("record=1000")
        .withMessageContaining("records=1000");
  }
}
