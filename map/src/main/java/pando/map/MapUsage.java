package pando.map;

/**
 * How large a map is, and the use of the memory pool that it is in.
 *
 * @param keys about how many there are, as {@link pando.index.Session#sizeEstimate} says; those of
 *     byte strings are estimated from some of their blocks
 * @param usedBytes bytes of the pool that are used, also by others; as {@link
 *     pando.fabric.PoolUsage#usedBytes}, of all memory servers
 * @param capacityBytes bytes that the pool can grow to, in whole chunks of its memory servers. The
 *     system gives this memory as it is used, and may have less of it
 */
public record MapUsage(long keys, long usedBytes, long capacityBytes) {}
