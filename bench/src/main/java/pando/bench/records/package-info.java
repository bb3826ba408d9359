/**
 * The records of a benchmark, without a table of them: keys, values and the values that a reader
 * may find are computed from a record's number.
 */
package pando.bench.records;
