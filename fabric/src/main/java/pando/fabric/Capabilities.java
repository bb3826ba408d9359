package pando.fabric;

/**
 * What a fabric can do. An index checks what it needs, and cannot be opened if something is
 * missing.
 *
 * @param atomicityBytes size in bytes, 8 or 64, of the aligned parts of a READ or WRITE that are
 *     atomic. Larger transfers take effect part by part, in no fixed order
 * @param maskedAtomics whether masked CAS and masked FAA exist
 * @param cas16 whether 16-byte masked CAS exists
 * @param onChipBytes size of each memory server's on-chip region, 0 if there is none
 * @param simulated whether the pool is simulated: only there may an index be opened that is known
 *     to lose keys, to show how it does
 */
public record Capabilities(
    int atomicityBytes, boolean maskedAtomics, boolean cas16, int onChipBytes, boolean simulated) {}
