package pando.index.orca;

import java.util.List;
import java.util.stream.IntStream;
import pando.fabric.Backoff;
import pando.index.TaskCounts;
import pando.index.host.HostedServer;

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

  Mergers(HostedServer server, OrcaStore store) {
    mergers =
        IntStream.range(0, store.options.mergers())
            .mapToObj(number -> new Merger(server, store, number, () -> wake(number + 1)))
            .toList();
    store.relief.onShort(() -> wake(0));
  }

  /** Wakes one of the tasks, if there are so many. */
  private void wake(int number) {
    if (number < mergers.size()) {
      mergers.get(number).wake();
    }
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
