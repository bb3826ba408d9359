package pando.fabric.verbs;

import pando.fabric.Worker;

/** Messages that have come and are not served yet, in the order in which they came. */
final class Arrivals {
  /** A message. */
  static final class Arrival {
    /** Number of its room. */
    int message;

    int queuePair;
    int bytes;
    int immediate;

    /** Whether it can be served; else its room is free again. */
    boolean isWhole;

    private void set(Arrival other) {
      message = other.message;
      queuePair = other.queuePair;
      bytes = other.bytes;
      immediate = other.immediate;
      isWhole = other.isWhole;
    }
  }

  private final Arrival[] ring;
  private long taken;
  private long added;

  /**
   * Makes room.
   *
   * @param most how many there can be
   */
  Arrivals(int most) {
    ring = new Arrival[most];
    for (int i = 0; i < most; i++) {
      ring[i] = new Arrival();
    }
  }

  /** Adds the message of a completion. */
  void add(CompletionQueue from, int completion) {
    Arrival next = ring[(int) (added % ring.length)];
    next.message = (int) from.number(completion);
    next.queuePair = from.queuePair(completion);
    next.bytes = from.bytes(completion);
    next.immediate = from.immediate(completion);
    next.isWhole =
        from.status(completion) == Status.SUCCESS
            && from.isMessage(completion)
            && next.bytes >= 0
            && next.bytes <= Worker.CALL_BYTES_MAX;
    added++;
  }

  /** Has no message of a queue pair be served any more; its number may come again. */
  void drop(int queuePair) {
    for (long i = taken; i < added; i++) {
      Arrival arrival = ring[(int) (i % ring.length)];
      arrival.isWhole &= arrival.queuePair != queuePair;
    }
  }

  /** Takes the first one; returns whether there was one. */
  boolean take(Arrival to) {
    if (taken == added) {
      return false;
    }
    to.set(ring[(int) (taken % ring.length)]);
    taken++;
    return true;
  }
}
