package pando.bench.workload;

import java.util.Locale;

/** What updates of a record write. */
public enum Values {
  /** Each another value. */
  CHANGING {
    @Override
    public int written(int sequence) {
      return sequence;
    }
  },

  /**
   * All the same value, which is not the one that was loaded. The benchmark of DEX's paper does so:
   * it writes the key.
   */
  SAME {
    @Override
    public int written(int sequence) {
      return Math.min(sequence, 1);
    }
  };

  /** Returns the sequence of the update whose value an update writes, 0 for the loaded value. */
  public abstract int written(int sequence);

  /** Returns the name on the command line, such as {@code same}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
