package pando.sim.network;

import java.util.Arrays;
import pando.sim.time.Simulation;

/** Makes the atomic parts of a READ or WRITE take effect in random order, over some time. */
final class Tear {
  private static final int STEPS_MAX = 4;

  private final Simulation simulation;
  private final Faults faults;
  private final Outages outages;
  private final LeastEpochs leastEpochs;
  private final int partBytes;

  Tear(
      Simulation simulation,
      Faults faults,
      Outages outages,
      LeastEpochs leastEpochs,
      int partBytes) {
    this.simulation = simulation;
    this.faults = faults;
    this.outages = outages;
    this.leastEpochs = leastEpochs;
    this.partBytes = partBytes;
  }

  /** Starts now; all parts take effect within so many picoseconds. */
  void start(Message message, long picos) {
    int parts = (skew(message) + message.length + partBytes - 1) / partBytes;
    int[] order = order(parts);
    int steps = Math.min(parts, STEPS_MAX);
    leastEpochs.begin(message);
    for (int step = 0; step < steps; step++) {
      int from = parts * step / steps;
      int to = parts * (step + 1) / steps;
      simulation.at(
          simulation.now() + (picos - 1) * step / steps, () -> land(message, order, from, to));
    }
  }

  /** Returns whether a verb transfers more than one atomic part. */
  boolean isPossible(Message message) {
    return message.moves() && skew(message) + message.length > partBytes;
  }

  /** Returns the offset of a verb's first byte in its atomic part of the memory server. */
  private int skew(Message message) {
    return (int) (message.remote % partBytes);
  }

  private int[] order(int parts) {
    int[] order = new int[parts];
    Arrays.setAll(order, i -> i);
    for (int i = parts - 1; i > 0; i--) {
      int other = (int) faults.draw(i + 1L);
      int moved = order[i];
      order[i] = order[other];
      order[other] = moved;
    }
    return order;
  }

  private void land(Message message, int[] order, int from, int to) {
    for (int i = from; i < to && !outages.hasCrashedSince(message); i++) {
      int part = order[i] * partBytes - skew(message);
      int start = Math.max(0, part);
      int end = Math.min(message.length, part + partBytes);
      message.applyPart(start, end - start);
    }
    if (to == order.length) {
      leastEpochs.end(message);
    }
  }
}
