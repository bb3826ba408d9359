package pando.baselines.rolex;

import java.util.LinkedHashSet;
import java.util.SequencedSet;

/**
 * The models that are due (ROLEX's CirQ), each by its least key, in the order in which they became
 * due. It takes all of them, each once: so it is no longer than the table of models. Thread-safe.
 */
final class RetrainQueue {
  private final SequencedSet<Long> due = new LinkedHashSet<>();

  /** Models that could not be retrained: they are due again when another one is. */
  private final SequencedSet<Long> postponed = new LinkedHashSet<>();

  RetrainQueue() {}

  /** Adds a model; returns {@code false} if it is in the queue already. */
  synchronized boolean offer(long low) {
    if (!due.add(low)) {
      return false;
    }
    due.addAll(postponed);
    postponed.clear();
    return true;
  }

  /** Adds a model as soon as another one is added. */
  synchronized void postpone(long low) {
    postponed.add(low);
  }

  /**
   * Takes the model that came first.
   *
   * @param low takes its least key
   * @return whether there was one
   */
  synchronized boolean take(long[] low) {
    if (due.isEmpty()) {
      return false;
    }
    low[0] = due.removeFirst();
    return true;
  }

  /** Forgets all models. */
  synchronized void clear() {
    due.clear();
    postponed.clear();
  }
}
