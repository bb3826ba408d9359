/**
 * The public API of an index: a {@link pando.index.RangeIndex} opens a {@link pando.index.Session}
 * for each thread; sessions get, put, remove and scan.
 */
package pando.index;
