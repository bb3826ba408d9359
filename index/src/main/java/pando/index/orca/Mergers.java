package pando.index.orca;

import java.util.List;
import java.util.stream.IntStream;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.index.TaskCounts;

/**
 * The background tasks of a compute server that merge leaves before the memory for deltas is short,
 * so that sessions seldom have to.
 */
final class Mergers {
  /*
   * A session that finds memory nearly short wakes the first task, and each task the next one if
   * memory is still nearly short. If memory is short even so, sessions merge leaves
   * themselves. So no session ever waits for a task, even if it has paused, failed or is too slow.
   *
   * A task that fails rests, as the cause may last. It is woken again after memory was no longer
   * short, or a session has merged a leaf for lack of memory.
   */

  private final List<Merger> mergers;

  /** Whether the tasks have been woken, and need not be woken again. */
  private volatile boolean awake;

  Mergers(OrcaServer server, Fabric fabric) {
    mergers =
        IntStream.range(0, server.options.mergers())
            .mapToObj(number -> new Merger(server, fabric, number))
            .toList();
  }

  /** Wakes the tasks, if they rest: memory is going to be short. */
  void wake() {
    if (!awake) {
      awake = true;
      wake(0);
    }
  }

  /** Wakes one of the tasks, if there are so many. */
  void wake(int number) {
    if (number < mergers.size()) {
      mergers.get(number).wake();
    }
  }

  /** Lets {@link #wake()} wake the tasks again. */
  void rest() {
    awake = false;
  }

  /** Waits until the current steps have ended. No other one begins before {@link #resume}. */
  void pause(Backoff backoff) {
    mergers.forEach(merger -> merger.pause(backoff));
  }

  /** Goes on. */
  void resume() {
    mergers.forEach(Merger::resume);
  }

  /** Returns how merging has gone so far. */
  TaskCounts counts() {
    return mergers.stream().map(Merger::counts).reduce(TaskCounts.NONE, TaskCounts::plus);
  }
}
