/**
 * Runs in virtual time: workloads and locks, which are measured, and trials, which are small
 * clusters under faults whose histories are checked.
 */
package pando.bench.simulate;
