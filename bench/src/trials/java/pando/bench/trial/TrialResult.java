package pando.bench.trial;

import java.util.List;
import java.util.Map;
import pando.sim.fault.Fault;
import pando.sim.history.History;

/**
 * The result of a trial.
 *
 * @param seed that replays it
 * @param violations of the contract of an index; empty if there are none
 * @param hangs operations that stalled once all faults had ended; searched under harmful faults
 * @param history of all operations
 * @param faults how often each struck
 * @param unknown operations whose outcome their client never learned
 * @param changes of partitions
 * @param events of the simulation
 * @param hash of all events
 * @param counts of what else happened, by what it is
 */
public record TrialResult(
    long seed,
    List<String> violations,
    TrialHangs hangs,
    History history,
    Map<Fault, Integer> faults,
    int unknown,
    int changes,
    long events,
    long hash,
    Map<String, Long> counts) {}
