package pando.fabric.verbs;

/**
 * How RDMA cards are used. Start from {@link #defaults()} and change what differs.
 *
 * @param maskedAtomics of a compute server: how it does masked atomics
 * @param lineAtomicity of a compute server: bytes, 8 or 64, of the aligned parts of READs and
 *     WRITEs that the operator knows to be atomic on the cards in use. Nothing can find that out; 8
 *     is always right
 * @param deviceMemory of a memory server: whether its on-chip region is in the card's own memory
 *     where the card has as much and it works. Then no processor reaches the region: clients by TCP
 *     have none
 */
public record CardOptions(MaskedAtomics maskedAtomics, int lineAtomicity, boolean deviceMemory) {
  private static final int LINE_BYTES = 64;
  private static final CardOptions DEFAULTS = new CardOptions(MaskedAtomics.AUTO, Long.BYTES, true);

  /** How masked atomics are done. */
  public enum MaskedAtomics {
    /**
     * By the cards, where all that are reached are seen to have them; else as {@link #EMULATED}.
     */
    AUTO,
    /** By the cards; a fabric is not opened where one is not seen to have them. */
    NATIVE,
    /** By CAS, repeated. There is no 16-byte CAS. */
    EMULATED
  }

  /** Checks the range of the line atomicity. */
  public CardOptions {
    if (lineAtomicity != Long.BYTES && lineAtomicity != LINE_BYTES) {
      throw new IllegalArgumentException(
          "8 or 64 bytes are atomic: lineAtomicity=" + lineAtomicity);
    }
  }

  /** What is found out about the cards is used; 8 bytes are atomic. */
  public static CardOptions defaults() {
    return DEFAULTS;
  }

  /** Returns these options with another way to do masked atomics. */
  public CardOptions withMaskedAtomics(MaskedAtomics maskedAtomics) {
    return new CardOptions(maskedAtomics, lineAtomicity, deviceMemory);
  }

  /** Returns these options with other bytes that are atomic. */
  public CardOptions withLineAtomicity(int bytes) {
    return new CardOptions(maskedAtomics, bytes, deviceMemory);
  }

  /** Returns these options with or without use of the card's own memory. */
  public CardOptions withDeviceMemory(boolean deviceMemory) {
    return new CardOptions(maskedAtomics, lineAtomicity, deviceMemory);
  }
}
