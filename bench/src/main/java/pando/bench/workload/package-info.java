/**
 * What a benchmark asks for: mixes of operations as DEX's Tables 1 and 3 have them, and
 * distributions of the records they fall on.
 */
package pando.bench.workload;
