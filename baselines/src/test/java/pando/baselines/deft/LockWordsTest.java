package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.index.Pools;

@Tag("campaign")
class LockWordsTest {
  private static final int NODE_BYTES = 1024;

  @Test
  void shouldSpreadNodesOverTheWordsOfTheirServer() {
    try (Fabric fabric = Pools.open(2, 1 << 20, 1)) {
      LockWords words = new LockWords(fabric);
      int onChipBytes = fabric.capabilities().onChipBytes();
      int count = onChipBytes / Long.BYTES;
      Set<Long> used = new HashSet<>();
      for (int i = 0; i < count; i++) {
        long node = GlobalAddress.of(1, (long) i * NODE_BYTES);
        long word = words.wordOf(node);
        assertThat(words.wordOf(node)).isEqualTo(word);
        assertThat(GlobalAddress.isOnChip(word)).isTrue();
        assertThat(GlobalAddress.server(word)).isEqualTo(1);
        assertThat(GlobalAddress.offset(word)).isBetween(0L, (long) onChipBytes - Long.BYTES);
        assertThat(GlobalAddress.offset(word) % Long.BYTES).isZero();
        used.add(word);
      }
      // As many as if each node had drawn one: 1 - 1/e of all.
      assertThat(used.size()).isBetween((int) (0.62 * count), (int) (0.645 * count));
    }
  }
}
