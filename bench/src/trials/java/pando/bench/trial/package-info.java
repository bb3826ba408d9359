/**
 * Trials in virtual time: clients of an index, or of a cluster, under faults, with a check of all
 * that they did. Only {@code pando simulate} and tests reach them.
 */
package pando.bench.trial;
