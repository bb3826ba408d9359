/** Runs in virtual time: workloads, locks, and small clusters under faults. */
package pando.bench.simulate;
