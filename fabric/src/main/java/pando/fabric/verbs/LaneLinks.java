package pando.fabric.verbs;

import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.lane.LaneLoop;
import pando.fabric.lane.Waiter;

/**
 * The ways that a worker shares with the others of its lane, and what of it is under way. The lane
 * guards what this has.
 */
final class LaneLinks implements Links, AutoCloseable {
  private static final Chain[] NONE = {};

  private final LaneLoop loop;
  private final VerbsLane lane;
  private final int slot;
  private final Waiter waiter = new Waiter();
  private Chain[] chains = NONE;
  private int count;

  /** How many of them have not ended. */
  private int left;

  private long deadline;

  LaneLinks(LaneLoop loop) {
    this.loop = loop;
    this.lane = VerbsLane.of(loop);
    this.slot = lane.add(this);
  }

  @Override
  public Link to(int server) {
    return lane.to(server);
  }

  @Override
  public void exchange(Chain[] begun, int size, long nanosMax, Backoff backoff) {
    long end = System.nanoTime() + nanosMax;
    waiter.begin();
    boolean gathered = false;
    try {
      lane.gather(this, begun, size, end);
      gathered = true;
    } finally {
      if (!gathered) {
        waiter.end();
      }
    }
    loop.wakeUp();
    loop.await(waiter);
  }

  /** Has chains under way from now on. */
  void begin(Chain[] begun, int size, long latest) {
    chains = begun;
    count = size;
    left = size;
    deadline = latest;
  }

  int slot() {
    return slot;
  }

  int count() {
    return count;
  }

  Chain chain(int index) {
    return chains[index];
  }

  /** Returns the chain under way that has a verb of a number, or {@code null}. */
  @Nullable Chain find(long number) {
    for (int i = 0; i < count; i++) {
      if (chains[i].has(number)) {
        return chains[i];
      }
    }
    return null;
  }

  /** Returns whether what is under way should have been answered. */
  boolean isLate(long now) {
    return now - deadline > 0;
  }

  /** Notes that a chain has ended; the worker goes on behind the last. */
  void end() {
    left--;
    if (left == 0) {
      // The worker may use its chains for something else from now on.
      chains = NONE;
      count = 0;
      waiter.goOn();
    }
  }

  @Override
  public void close() {
    lane.remove(slot);
  }
}
