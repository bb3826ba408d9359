/**
 * A map and an index inside one process, and one over a memory server that other processes could
 * join.
 */
package pando.samples;
