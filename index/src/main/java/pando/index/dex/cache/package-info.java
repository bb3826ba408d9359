/**
 * The cache of a DEX compute server: whole nodes under optimistic locks, found by swizzled pointers
 * or a mapping table (DEX section 5).
 */
package pando.index.dex.cache;
