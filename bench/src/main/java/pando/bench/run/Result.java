package pando.bench.run;

import pando.bench.workload.Workload;

/**
 * The result of one workload.
 *
 * @param verified values checked and right, in the measured part and in the audit after it
 * @param footprint after all that
 */
public record Result(
    Setup setup,
    Plan plan,
    Workload workload,
    Measurement measurement,
    long verified,
    Footprint footprint) {}
