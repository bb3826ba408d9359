/**
 * The yardstick: a plain B+-tree in one stretch of off-heap memory, with optimistic lock coupling,
 * and without fabric, cache or partitions. What an index over a fabric costs on top is the distance
 * to this.
 */
package pando.bench.btree;
