package pando.fabric;

/**
 * How much of a memory server's pool is taken.
 *
 * @param capacityBytes what chunks can be made of
 * @param reservedBytes chunks handed to compute servers and not given back
 * @param usedBytes the part of the reserved bytes that was not returned node by node; counts nodes
 *     that a compute server holds ready as used until it trims
 */
public record PoolUsage(long capacityBytes, long reservedBytes, long usedBytes) {}
