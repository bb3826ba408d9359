package pando.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VerbListTest {
  @Test
  void shouldKeepEveryPartOfEveryVerbWhileItGrows() {
    VerbList list = new VerbList();
    for (int i = 0; i < 100; i++) {
      list.maskedCas(i, i + 1, i + 2, i + 3, i + 4, i + 5);
      list.read(i, i + 6, i + 7);
    }
    assertThat(list.size()).isEqualTo(200);
    for (int i = 0; i < 100; i++) {
      assertThat(list.kind(2 * i)).isEqualTo(VerbList.Kind.MASKED_CAS);
      assertThat(list.remote(2 * i)).isEqualTo(i);
      for (int operand = 0; operand < 4; operand++) {
        assertThat(list.operand(2 * i, operand)).isEqualTo(i + 1 + operand);
      }
      assertThat(list.local(2 * i)).isEqualTo(i + 5);
      assertThat(list.kind(2 * i + 1)).isEqualTo(VerbList.Kind.READ);
      assertThat(list.local(2 * i + 1)).isEqualTo(i + 6);
      assertThat(list.length(2 * i + 1)).isEqualTo(i + 7);
    }
    assertThat(list.clear().size()).isZero();
  }
}
