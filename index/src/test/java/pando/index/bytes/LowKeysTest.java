package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import pando.index.Seeds;

class LowKeysTest {
  private final SplittableRandom random = new SplittableRandom(Seeds.of(2861));

  /** Draws a key, often one that begins as another one does or that is a prefix of it. */
  private byte[] drawn(NavigableSet<byte[]> keys) {
    byte[] other = keys.isEmpty() ? new byte[0] : keys.floor(ByteKeys.draw(random, 9));
    if (other == null || random.nextInt(3) == 0) {
      return ByteKeys.draw(random, 9);
    }
    byte[] key = Arrays.copyOf(other, random.nextInt(other.length + 3));
    if (key.length > 0) {
      key[key.length - 1] = (byte) (random.nextInt(3) - 1);
    }
    return key;
  }

  @Test
  void shouldFindTheLastKeyAtOrBelowAnother() {
    for (int round = 0; round < Seeds.count(300, 3_000, 30_000); round++) {
      TreeSet<byte[]> model = new TreeSet<>(Arrays::compareUnsigned);
      for (int i = random.nextInt(70); i >= 0; i--) {
        model.add(drawn(model));
      }
      byte[][] keys = model.toArray(byte[][]::new);
      byte[][] outlines = new byte[keys.length][];
      for (int i = 0; i < keys.length; i++) {
        outlines[i] = Outline.whole(MemorySegment.ofArray(keys[i]));
      }
      LowKeys low = new LowKeys(keys.length, i -> MemorySegment.ofArray(keys[i]));
      for (int i = 0; i < 100; i++) {
        byte[] wanted = random.nextBoolean() ? drawn(model) : keys[random.nextInt(keys.length)];
        MemorySegment key = MemorySegment.ofArray(wanted);
        int candidate = low.candidate(key);
        int found = low.last(candidate, Outline.agreesLow(outlines[candidate], key));
        assertThat(found).isEqualTo(model.headSet(wanted, true).size() - 1);
      }
    }
  }
}
