/** The results of workloads, as tables for people and as JSON for programs. */
package pando.bench.report;
