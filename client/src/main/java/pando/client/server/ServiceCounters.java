package pando.client.server;

import java.util.concurrent.atomic.AtomicLong;

/** What a lane counts: under its lock, so that no two threads add at a time; any may read. */
final class ServiceCounters {
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();

  /** Counts an answer. */
  void answered(boolean isFailure) {
    answered.setRelease(answered.getPlain() + 1);
    if (isFailure) {
      failed.setRelease(failed.getPlain() + 1);
    }
  }

  long answered() {
    return answered.get();
  }

  long failed() {
    return failed.get();
  }
}
