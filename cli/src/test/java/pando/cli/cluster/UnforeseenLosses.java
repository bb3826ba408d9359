package pando.cli.cluster;

import java.io.PrintStream;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Compute servers that lost their sessions although nothing was done to them, as their processes
 * got no processor for as long as a session lasts. Thread-safe.
 */
final class UnforeseenLosses {
  /** Exit code of a compute server that is lost to others. */
  static final int EXIT_LOST = 3;

  /** Exit code of one for which others had no time at its start, on a busy machine. */
  private static final int EXIT_OTHERS_GONE = 4;

  private static final List<Losses.Range> ALL_KEYS =
      List.of(new Losses.Range(Long.MIN_VALUE, Long.MAX_VALUE));

  private final TestedCluster cluster;
  private final Tally tally;
  private final PrintStream out;
  private final Set<TestedProcess> announced = ConcurrentHashMap.newKeySet();

  /**
   * Looks at the compute servers of a cluster.
   *
   * @param tally counts the losses
   * @param out receives a line for each
   */
  UnforeseenLosses(TestedCluster cluster, Tally tally, PrintStream out) {
    this.cluster = cluster;
    this.tally = tally;
    this.out = out;
  }

  /** Announces those that have ended since. */
  void announceTo(Losses losses) {
    for (int number = 0; number < cluster.plan().computeServers(); number++) {
      TestedProcess process = cluster.compute(number);
      if (isOne(process) && announced.add(process)) {
        losses.announceUnforeseen(ALL_KEYS);
        tally.unforeseen();
        out.printf("compute server %d was lost, although nothing was done to it%n", number);
      }
    }
  }

  /** Starts those again that were announced, and those that others kept from starting. */
  void restart() {
    for (int number = 0; number < cluster.plan().computeServers(); number++) {
      TestedProcess process = cluster.compute(number);
      if (announced.contains(process) || isToStartAgain(process)) {
        cluster.startCompute(number);
      }
    }
  }

  private static boolean isToStartAgain(TestedProcess process) {
    return !process.isReady()
        && (hasEnded(process, EXIT_LOST) || hasEnded(process, EXIT_OTHERS_GONE));
  }

  /** Returns whether a compute server that served was lost although nothing was done to it. */
  static boolean isOne(TestedProcess process) {
    return process.isReady() && hasEnded(process, EXIT_LOST);
  }

  private static boolean hasEnded(TestedProcess process, int code) {
    return !process.isDisturbed() && process.awaitExit(0).equals(OptionalInt.of(code));
  }
}
