/**
 * The compute-side node cache of DEX section 5: frames under optimistic locks, the mapping table,
 * the cooling map.
 */
package pando.index.cache;
