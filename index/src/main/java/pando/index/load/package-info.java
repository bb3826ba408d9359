/** Bulk loads: entries in order become a tree, and its leaves partitions. */
package pando.index.load;
