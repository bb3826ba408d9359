package pando.fabric;

import java.util.BitSet;

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
}
