/**
 * What compute servers cache: whole nodes, under optimistic locks and found by swizzled pointers or
 * a mapping table (DEX section 5), or the children of inner nodes alone (Sherman section 4.2.3).
 */
package pando.index.cache;
