/**
 * The baseline: a plain B+-tree in one range of off-heap memory, with optimistic lock coupling, and
 * without fabric, cache or partitions. The difference to it is what an index over a fabric costs.
 */
package pando.bench.btree;
