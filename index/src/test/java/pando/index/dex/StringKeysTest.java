package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.Seeds;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteStrings;

class StringKeysTest {
  @ParameterizedTest
  @ValueSource(ints = {16, 24, 64, 1_024})
  void shouldKeepTheOrderAndTheStrings(int keyBytes) {
    SplittableRandom random = new SplittableRandom(Seeds.of(3101));
    StringKeys keys = new StringKeys(keyBytes);
    MemorySegment one = keys.make();
    MemorySegment other = keys.make();
    for (int i = 0; i < 20_000; i++) {
      byte[] first = ByteKeys.draw(random, keys.lengthMax());
      byte[] second =
          random.nextBoolean()
              ? Arrays.copyOf(first, random.nextInt(keys.lengthMax() + 1))
              : ByteKeys.draw(random, keys.lengthMax());
      keys.write(MemorySegment.ofArray(first), one);
      keys.write(MemorySegment.ofArray(second), other);
      assertThat(ByteKeys.bytes(keys.string(one))).isEqualTo(first);
      assertThat(Integer.signum(ByteIndex.compare(one, other)))
          .isEqualTo(Integer.signum(Arrays.compareUnsigned(first, second)));
      assertThat(one.get(ByteStrings.WORD, 0) ^ Long.MIN_VALUE)
          .isEqualTo(ByteStrings.partitionKey(MemorySegment.ofArray(first)));
    }
  }

  @Test
  void shouldStepFromKeyToKey() {
    StringKeys keys = new StringKeys(16);
    MemorySegment key = keys.make();
    assertThat(keys.step(key, true)).isFalse();
    keys.writeGreatest(Long.MAX_VALUE, key);
    assertThat(keys.step(key, false)).isFalse();
    keys.write(ByteKeys.of((byte) 1), key);
    assertThat(keys.step(key, true)).isTrue();
    assertThat(keys.step(key, true)).isTrue();
    assertThat(ByteKeys.bytes(key)).startsWith(0, -1, -1).endsWith(-1, -1);
    assertThat(keys.step(key, false)).isTrue();
    assertThat(keys.step(key, false)).isTrue();
    assertThat(ByteKeys.bytes(keys.string(key))).containsExactly(1);
  }

  @Test
  void shouldRefuseKeysThatAreNotThoseOfStrings() {
    StringKeys keys = new StringKeys(16);
    MemorySegment key = keys.make();
    key.set(ValueLayout.JAVA_BYTE, 15, (byte) 15);
    assertThatIllegalStateException()
        .isThrownBy(() -> keys.string(key))
        .withMessage("the key is not that of a byte string: key=0000000000000000000000000000000f");
    key.set(ValueLayout.JAVA_BYTE, 15, (byte) 3);
    key.set(ValueLayout.JAVA_BYTE, 3, (byte) 1);
    assertThatIllegalStateException().isThrownBy(() -> keys.string(key));
    keys.writeGreatest(Long.MAX_VALUE, key);
    assertThatIllegalStateException().isThrownBy(() -> keys.string(key));
  }
}
