package pando.baselines.deft;

import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;

/**
 * Maps nodes to their lock words: 64-bit words in the on-chip region of the node's memory server.
 * Several nodes may share a word.
 */
final class LockWords {
  private final long words;

  /** Creates the mapping for a fabric. */
  LockWords(Fabric fabric) {
    words = fabric.capabilities().onChipBytes() / Long.BYTES;
  }

  /** Returns the address of a node's lock word. */
  long wordOf(long node) {
    // The hash mixes well, as addresses of nodes are multiples of their size and grow by it.
    long z = GlobalAddress.offset(node) * 0x9E37_79B9_7F4A_7C15L;
    z = (z ^ (z >>> 32)) * 0xBF58_476D_1CE4_E5B9L;
    long word = ((z >>> Integer.SIZE) * words) >>> Integer.SIZE;
    return GlobalAddress.onChip(GlobalAddress.server(node), word * Long.BYTES);
  }
}
