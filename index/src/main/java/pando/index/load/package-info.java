/** Bulk loads: entries in order become an index, and its leaves partitions. */
package pando.index.load;
