package pando.fabric;

/**
 * What a fabric can do. An index states what it needs and refuses to open where something is
 * missing.
 *
 * @param atomicityBytes aligned bytes of a READ or WRITE that land as one; 8 or 64. Larger
 *     transfers land in parts of this size, in no fixed order
 * @param maskedAtomics whether masked CAS and masked FAA exist
 * @param cas16 whether 16-byte masked CAS exists
 * @param onChipBytes size of each memory server's on-chip region, 0 if there is none
 * @param simulated whether the pool is a model's and holds nothing that anybody needs: an index
 *     that is known to lose keys may open there, to show how
 */
public record Capabilities(
    int atomicityBytes, boolean maskedAtomics, boolean cas16, int onChipBytes, boolean simulated) {}
