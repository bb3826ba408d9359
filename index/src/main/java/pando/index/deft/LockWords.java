package pando.index.deft;

import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;

/**
 * Where the lock of a node is: one of the 64-bit words of the on-chip region of the node's own
 * memory server. Several nodes may share a word.
 */
final class LockWords {
  private final long words;

  /**
   * Looks how many words a memory server has.
   *
   * @throws IllegalArgumentException if the fabric cannot hold locks
   */
  LockWords(Fabric fabric) {
    words = fabric.capabilities().onChipBytes() / Long.BYTES;
    if (words == 0 || !fabric.capabilities().maskedAtomics()) {
      throw new IllegalArgumentException(
          "locks need an on-chip region and masked atomics: fabric="
              + fabric.name()
              + ", capabilities="
              + fabric.capabilities());
    }
  }

  /** Returns the address of the word that locks a node, the same for nodes that share one. */
  long wordOf(long node) {
    // Mixed well, as nodes lie at multiples of their size and grow up in a row.
    long z = GlobalAddress.offset(node) * 0x9E37_79B9_7F4A_7C15L;
    z = (z ^ (z >>> 32)) * 0xBF58_476D_1CE4_E5B9L;
    long word = ((z >>> Integer.SIZE) * words) >>> Integer.SIZE;
    return GlobalAddress.onChip(GlobalAddress.server(node), word * Long.BYTES);
  }
}
