package pando.bench.run;

import pando.bench.workload.Workload;

/**
 * What one workload came to.
 *
 * @param verified values found right, in the measured part and in the audit after it
 * @param bytesPerRecord of all that holds the records, 0 where that is unknown
 */
public record Result(
    Setup setup,
    Plan plan,
    Workload workload,
    Measurement measurement,
    long verified,
    double bytesPerRecord) {}
