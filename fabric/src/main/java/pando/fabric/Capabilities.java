package pando.fabric;

/**
 * What a fabric can do. An index checks what it needs, and cannot be opened if something is
 * missing.
 *
 * @param atomicityBytes size in bytes, 8 or 64, of the aligned parts of a READ or WRITE that are
 *     atomic. Larger transfers take effect part by part, in no fixed order
 * @param maskedAtomics how masked CAS and masked FAA are done
 * @param cas16 whether 16-byte masked CAS exists
 * @param onChip where each memory server's on-chip region is
 * @param onChipBytes size of that region, 0 if there is none
 * @param remoteProcessor whether every verb costs time of the memory server's processors, not a
 *     CALL alone
 * @param fences whether this fabric can {@linkplain Fabric#fence fence} compute servers
 * @param simulated whether the pool is simulated: only there may an index be opened that is known
 *     to lose keys, to show how it does
 */
public record Capabilities(
    int atomicityBytes,
    MaskedAtomics maskedAtomics,
    boolean cas16,
    OnChip onChip,
    int onChipBytes,
    boolean remoteProcessor,
    boolean fences,
    boolean simulated) {
  /** How masked CAS and masked FAA are done. */
  public enum MaskedAtomics {
    /** One verb each. */
    NATIVE,
    /** A READ and CAS, repeated until no other change comes between: several round trips each. */
    EMULATED,
    /** Not at all. */
    NONE
  }

  /** Where an on-chip region is. */
  public enum OnChip {
    /** On the network card, whose atomics do not access the host's memory. */
    CARD,
    /** In the host's memory, which has no faster place. */
    HOST
  }

  /** Returns whether masked CAS and masked FAA exist. */
  public boolean hasMaskedAtomics() {
    return maskedAtomics != MaskedAtomics.NONE;
  }
}
