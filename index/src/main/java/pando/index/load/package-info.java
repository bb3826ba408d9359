/** Bulk loads: build an index from entries in order, and partitions from its leaves. */
package pando.index.load;
