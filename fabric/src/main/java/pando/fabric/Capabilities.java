package pando.fabric;

/**
 * What a fabric can do. An index checks what it needs, and cannot be opened if something is
 * missing.
 *
 * @param atomicityBytes size in bytes, 8 or 64, of the aligned parts of a READ or WRITE that are
 *     atomic. Larger transfers take effect part by part, in no fixed order
 * @param cas16 whether 16-byte masked CAS exists
 * @param onChipBytes size of each memory server's on-chip region
 * @param remoteProcessor whether every verb costs time of the memory server's processors, not a
 *     CALL alone
 * @param fences whether this fabric can {@linkplain Fabric#fence fence} compute servers
 * @param keepsPool whether the pool stays when this process ends: changes that are written to it
 *     are not lost with the process
 * @param simulated whether the pool is simulated: only there may an index be opened that is known
 *     to lose keys, to show how it does
 */
public record Capabilities(
    int atomicityBytes,
    boolean cas16,
    int onChipBytes,
    boolean remoteProcessor,
    boolean fences,
    boolean keepsPool,
    boolean simulated) {}
