/** The results of workloads, locks and trials, as tables for people and as JSON for programs. */
package pando.bench.report;
