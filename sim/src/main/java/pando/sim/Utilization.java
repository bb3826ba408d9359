package pando.sim;

import java.util.List;

/**
 * Busy shares of the time: 0 to 1 for cards, 0 to the number of threads for processors.
 *
 * @param computeOut each compute server's card, sending
 * @param computeIn each compute server's card, receiving
 * @param memoryOut each memory server's card, sending
 * @param memoryIn each memory server's card, receiving
 * @param processors each memory server's processors
 */
public record Utilization(
    List<Double> computeOut,
    List<Double> computeIn,
    List<Double> memoryOut,
    List<Double> memoryIn,
    List<Double> processors) {

  /** Keeps copies. */
  public Utilization {
    computeOut = List.copyOf(computeOut);
    computeIn = List.copyOf(computeIn);
    memoryOut = List.copyOf(memoryOut);
    memoryIn = List.copyOf(memoryIn);
    processors = List.copyOf(processors);
  }
}
