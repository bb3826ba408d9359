package pando.bench.simulate;

import org.HdrHistogram.Histogram;
import pando.bench.run.Footprint;
import pando.bench.run.Measurement;
import pando.bench.run.Setup;
import pando.sim.Utilization;

/**
 * The result of a run in virtual time.
 *
 * @param setup what ran
 * @param workload what it did
 * @param plan the clients
 * @param measurement of the operations that ended, and the verbs that were issued, in the virtual
 *     time that was measured; of the values verified, those of the warm-up count as well
 * @param roundTrips of these operations
 * @param windows of the time that was measured, a millisecond each
 * @param footprint at the end
 * @param utilization of everything, over the whole run
 * @param events of the whole run
 * @param realNanos real time of the whole run, without load and warm-up
 * @param hash of all events
 */
public record SimResult(
    Setup setup,
    String workload,
    SimPlan plan,
    Measurement measurement,
    Histogram roundTrips,
    Windows windows,
    Footprint footprint,
    Utilization utilization,
    long events,
    long realNanos,
    long hash) {}
