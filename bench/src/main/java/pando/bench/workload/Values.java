package pando.bench.workload;

import java.util.Locale;

/** What updates of a record write. */
public enum Values {
  /** Each update writes a new value. */
  CHANGING {
    @Override
    public int written(int sequence) {
      return sequence;
    }
  },

  /**
   * All updates of a record write one value, which is not the loaded one. The benchmark of DEX's
   * paper does the same: its updates write the key.
   */
  SAME {
    @Override
    public int written(int sequence) {
      return Math.min(sequence, 1);
    }
  };

  /**
   * Returns which of a record's values an update writes; 0 is the loaded one.
   *
   * @param sequence of the update: 1 for a record's first; 0 for the load
   */
  public abstract int written(int sequence);

  /** Returns the name on the command line, such as {@code same}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
