package pando.fabric;

import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * A fence did not come about at every memory server. Where it did not, verbs of the compute server
 * may still take effect: fence again, unless the memory server is gone with its memory. The causes
 * are suppressed exceptions, one for each memory server that failed.
 */
public final class FenceFailedException extends PandoException {
  private static final long serialVersionUID = 1L;

  private final BitSet fenced;

  /**
   * Creates the exception.
   *
   * @param message what is wrong and every value that matters
   * @param fenced numbers of the memory servers at which the fence came about
   */
  public FenceFailedException(String message, BitSet fenced) {
    super(message + ", fencedAt=" + fenced);
    this.fenced = (BitSet) fenced.clone();
  }

  /** Returns whether the fence came about at a memory server. */
  public boolean isFencedAt(int server) {
    return fenced.get(server);
  }

  /** Throws this, unless the fence came about at all memory servers that are not lost. */
  public void throwUnlessLost(int memoryServers, IntPredicate isLost) {
    for (int server = 0; server < memoryServers; server++) {
      if (!isFencedAt(server) && !isLost.test(server)) {
        throw this;
      }
    }
  }
}
