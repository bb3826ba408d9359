/**
 * What DEX's compute servers cache: whole nodes, under optimistic locks and found by swizzled
 * pointers or a mapping table (DEX section 5).
 */
package pando.index.cache;
