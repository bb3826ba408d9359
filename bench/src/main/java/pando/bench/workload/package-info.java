/**
 * The operations of a benchmark: mixes as in the papers and YCSB, and distributions over the
 * records.
 */
package pando.bench.workload;
