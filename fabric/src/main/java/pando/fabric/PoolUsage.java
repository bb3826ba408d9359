package pando.fabric;

/**
 * The use of a memory server's pool.
 *
 * @param capacityBytes bytes that chunks can be made of
 * @param reservedBytes bytes of chunks that compute servers have and did not return
 * @param usedBytes the part of the reserved bytes that was not returned node by node; unused nodes
 *     that a compute server keeps count as used until it trims
 */
public record PoolUsage(long capacityBytes, long reservedBytes, long usedBytes) {}
