package pando.fabric.verbs;

/**
 * How a compute server uses RDMA cards. Start from {@link #defaults()} and change what differs.
 *
 * @param lineAtomicity bytes, 8 or 64, of the aligned parts of READs and WRITEs that the operator
 *     knows to be atomic on the cards in use. Nothing can find that out; 8 is always right
 */
public record CardOptions(int lineAtomicity) {
  private static final int LINE_BYTES = 64;
  private static final CardOptions DEFAULTS = new CardOptions(Long.BYTES);

  /** Checks the range of the line atomicity. */
  public CardOptions {
    if (lineAtomicity != Long.BYTES && lineAtomicity != LINE_BYTES) {
      throw new IllegalArgumentException(
          "8 or 64 bytes are atomic: lineAtomicity=" + lineAtomicity);
    }
  }

  /** 8 bytes are atomic. */
  public static CardOptions defaults() {
    return DEFAULTS;
  }

  /** Returns these options with other bytes that are atomic. */
  public CardOptions withLineAtomicity(int bytes) {
    return new CardOptions(bytes);
  }
}
