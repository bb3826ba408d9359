/**
 * What a benchmark asks for: mixes of operations as the papers and YCSB have them, and
 * distributions of the records they fall on.
 */
package pando.bench.workload;
