package pando.fabric.verbs;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * Two queue pairs of one card that are connected to each other, made anew when they have broken;
 * for tests of a card, not for much traffic.
 */
final class Loopback implements AutoCloseable {
  static final int DEPTH = 64;

  private static final long NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  private final Device device;
  private final CompletionQueue completions;
  private @Nullable QueuePair client;
  private @Nullable QueuePair server;
  private long nextNumber = 1;
  private int completed;

  /** Connects them. */
  Loopback(Device device) {
    this.device = device;
    this.completions = new CompletionQueue(device, 2 * DEPTH);
    try {
      connect();
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /** Returns the one by which verbs go. */
  QueuePair client() {
    QueuePair open = client;
    return open == null ? connect() : open;
  }

  private QueuePair connect() {
    QueuePair one = new QueuePair(device, completions, DEPTH, 1);
    client = one;
    QueuePair other = new QueuePair(device, completions, DEPTH, 2);
    server = other;
    one.connect(other.endpoint());
    other.connect(one.endpoint());
    return one;
  }

  /**
   * Runs verbs, which are not ended yet, and waits for them. After a failure the next ones go by
   * other queue pairs.
   *
   * @return what became of the first verb that failed, or success; {@link Status#RESPONSE_TIMEOUT}
   *     if nothing completes, {@link Status#LOCAL_QUEUE_PAIR} if the card does not take them
   */
  Status run(WorkRequests requests) {
    Status status = exchange(requests);
    if (status != Status.SUCCESS) {
      disconnect();
    }
    return status;
  }

  private Status exchange(WorkRequests requests) {
    long first = nextNumber;
    nextNumber += requests.size();
    requests.finish(first);
    try {
      client().post(requests);
    } catch (IllegalStateException refused) {
      return Status.LOCAL_QUEUE_PAIR;
    }
    long start = System.nanoTime();
    while (System.nanoTime() - start <= NANOS_MAX) {
      completed = completions.poll();
      for (int i = 0; i < completed; i++) {
        // Older ones are of queue pairs that have broken.
        if (completions.number(i) >= first) {
          return completions.status(i);
        }
      }
      Thread.onSpinWait();
    }
    return Status.RESPONSE_TIMEOUT;
  }

  /** Returns how many completions came with that of the last verbs. */
  int completed() {
    return completed;
  }

  private void disconnect() {
    QueuePair one = client;
    QueuePair other = server;
    client = null;
    server = null;
    Closing.all(() -> close(one), () -> close(other));
  }

  private static void close(@Nullable QueuePair open) {
    if (open != null) {
      open.close();
    }
  }

  /** In this order, and none if one before it failed: what the card still uses is not freed. */
  @Override
  public void close() {
    disconnect();
    completions.close();
  }
}
