package pando.bench.run;

import pando.bench.workload.Distribution;

/**
 * What is run, whatever it is run against.
 *
 * @param records loaded before a workload, at least 1
 * @param fill share of each node that the load fills
 * @param distribution of lookups, updates and scans
 * @param theta skew of the Zipfian distributions
 * @param operations measured, by all clients together
 * @param warmup operations before those, by all clients together
 * @param threads clients, each a thread; in all processes together
 * @param secondsMax time in operations after which a client ends a phase early
 * @param seed of keys, values and operations
 */
public record Plan(
    long records,
    double fill,
    Distribution distribution,
    double theta,
    long operations,
    long warmup,
    int threads,
    int secondsMax,
    long seed) {}
