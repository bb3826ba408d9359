package pando.sim.network;

import java.util.Arrays;
import pando.sim.time.Simulation;

/** Makes the lines of a READ or WRITE take effect in random order, over some time. */
final class Tear {
  private static final int LINE_BYTES = Message.ATOMICITY_BYTES;
  private static final int PARTS_MAX = 4;

  private final Simulation simulation;
  private final Faults faults;
  private final Outages outages;

  Tear(Simulation simulation, Faults faults, Outages outages) {
    this.simulation = simulation;
    this.faults = faults;
    this.outages = outages;
  }

  /** Starts now; all lines take effect within so many picoseconds. */
  void start(Message message, long picos) {
    int lines = (skew(message) + message.length + LINE_BYTES - 1) / LINE_BYTES;
    int[] order = order(lines);
    int parts = Math.min(lines, PARTS_MAX);
    for (int part = 0; part < parts; part++) {
      int from = lines * part / parts;
      int to = lines * (part + 1) / parts;
      simulation.at(
          simulation.now() + (picos - 1) * part / parts, () -> land(message, order, from, to));
    }
  }

  /** Returns whether a verb transfers more than one atomic part. */
  static boolean isPossible(Message message) {
    return message.moves() && skew(message) + message.length > LINE_BYTES;
  }

  /** Returns the offset of a verb's first byte in its line of the memory server. */
  private static int skew(Message message) {
    return (int) (message.remote % LINE_BYTES);
  }

  private int[] order(int lines) {
    int[] order = new int[lines];
    Arrays.setAll(order, i -> i);
    for (int i = lines - 1; i > 0; i--) {
      int other = (int) faults.draw(i + 1L);
      int moved = order[i];
      order[i] = order[other];
      order[other] = moved;
    }
    return order;
  }

  private void land(Message message, int[] order, int from, int to) {
    for (int i = from; i < to && !outages.hasCrashedSince(message); i++) {
      int line = order[i] * LINE_BYTES - skew(message);
      int start = Math.max(0, line);
      int end = Math.min(message.length, line + LINE_BYTES);
      message.applyPart(start, end - start);
    }
  }
}
