package pando.fabric.verbs;

import java.util.concurrent.TimeUnit;

/**
 * Runs verbs by a queue pair and waits for their end; for tests of a card, not for much traffic.
 */
final class Exchange implements AutoCloseable {
  private static final long NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  private final CompletionQueue completions;
  private long nextNumber = 1;
  private int completed;

  /**
   * Creates it.
   *
   * @param entries completions of all queue pairs that are not polled yet, at most
   */
  Exchange(Device device, int entries) {
    this.completions = new CompletionQueue(device, entries);
  }

  /** Returns where queue pairs have to complete. */
  CompletionQueue completions() {
    return completions;
  }

  /**
   * Runs verbs, which are not ended yet.
   *
   * @return what became of the first that failed, or success; {@link Status#RESPONSE_TIMEOUT} if
   *     nothing completes, {@link Status#LOCAL_QUEUE_PAIR} if the card does not take them
   */
  Status run(QueuePair queuePair, WorkRequests requests) {
    long first = nextNumber;
    nextNumber += requests.size();
    requests.finish(first);
    try {
      queuePair.post(requests);
    } catch (IllegalStateException refused) {
      return Status.LOCAL_QUEUE_PAIR;
    }
    long start = System.nanoTime();
    while (true) {
      int count = completions.poll();
      completed = count;
      for (int i = 0; i < count; i++) {
        // Older ones are of queue pairs that have broken.
        if (completions.number(i) >= first) {
          return completions.status(i);
        }
      }
      if (System.nanoTime() - start > NANOS_MAX) {
        return Status.RESPONSE_TIMEOUT;
      }
      Thread.onSpinWait();
    }
  }

  /** Returns how many completions came with that of the last verbs. */
  int completed() {
    return completed;
  }

  @Override
  public void close() {
    completions.close();
  }
}
