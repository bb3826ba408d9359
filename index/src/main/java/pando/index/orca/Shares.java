package pando.index.orca;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.index.host.PausableSteps;
import pando.index.orca.parts.CacheParts;
import pando.index.orca.records.RecordCache;
import pando.index.session.Failures;

/**
 * Moves parts of a compute server's memory to the cache that earns more by them, in a background
 * task.
 */
final class Shares implements AutoCloseable {
  /*
   * A part more saves a cache about as much as a part less costs it. What that is in a window, in
   * time of a memory server's network card:
   *
   *   records   the hits of records that were about to go (those of count 0), each a READ of a
   *             segment, for each part
   *   deltas    the merges for want of memory, each a READ and a WRITE of a leaf, for each part
   *   images    the hits of images that were about to go, each a READ of a pair, for each part
   *
   * All on the average of some windows. After each window one part goes from the cache that earns least by it to the one that earns most,
   * if that is clearly more. Records are moved, and deltas' blocks merged away, so that the part is
   * empty before the other one has it.
   */

  /**
   * A window is this fraction of the records that the memory can hold, in keys that were missed.
   */
  private static final int WINDOWS = 64;

  private static final int WINDOW_MIN = 128;

  /** Windows that count: in one alone, few merges or none tell little. */
  private static final int MEMORY = 16;

  /** By how much one cache must earn more than the other. */
  private static final double CLEARLY = 1.25;

  /** Records keep one part of so many. */
  private static final int RECORDS_LEAST = 16;

  private final OrcaServer server;
  private final Fabric fabric;
  private final CacheParts parts;
  private final int recordPartsMin;
  private final long window;
  private final LongAdder tailHits = new LongAdder();
  private final LongAdder merges = new LongAdder();
  private final LongAdder pairsRead = new LongAdder();
  private final LongAdder pairsMissed = new LongAdder();
  private final PausableSteps steps = new PausableSteps();
  private final @Nullable BackgroundTask task;
  private volatile long due;
  private volatile long moved;
  private volatile long failed;
  private volatile @Nullable Throwable failure;
  private volatile @Nullable OrcaContext context;
  private List<PartHolder> holders = List.of();

  /** What each holder has earned, on the average of about the last {@link #MEMORY} windows. */
  private final double[] earnings = new double[3];

  private boolean closed;

  /** Creates the shares; what each cache has now is what it starts with. */
  Shares(OrcaServer server, Fabric fabric, CacheParts parts) {
    this.server = server;
    this.fabric = fabric;
    this.parts = parts;
    this.recordPartsMin = Math.max(1, parts.count() / RECORDS_LEAST);
    long buckets = parts.count() * parts.bytesOfPart() / RecordCache.BUCKET_BYTES;
    this.window = Math.max(WINDOW_MIN, buckets * RecordCache.WAYS / WINDOWS);
    this.due = window;
    this.task =
        server.options.sharesMove()
            ? fabric.background("pando-shares-" + server.number, () -> steps.take(this::step))
            : null;
  }

  // Called by sessions.

  /** Counts a merge for want of memory for deltas. */
  void countMerge() {
    merges.increment();
  }

  /** Notes hits of records of count 0; wakes the task if a window has passed. */
  void note(long hits) {
    tailHits.add(hits);
    wakeIfDue();
  }

  /** Notes pairs of segments that a scan has READ; wakes the task if a window has passed. */
  void notePairs(int read) {
    pairsRead.add(read);
    pairsMissed.add(read);
    wakeIfDue();
  }

  private void wakeIfDue() {
    if (task != null && missed() >= due) {
      task.wake();
    }
  }

  /** Returns how much was asked for that was not cached. */
  private long missed() {
    return server.admissions() + pairsMissed.sum();
  }

  /** Returns which cache has how much. */
  CacheShares now() {
    int ofRecords = server.records.homes().partsInUse();
    int ofImages = server.images.slabs().length;
    return new CacheShares(
        ofRecords * parts.bytesOfPart(),
        (parts.count() - ofRecords - ofImages) * parts.bytesOfPart(),
        ofImages * parts.bytesOfPart(),
        moved,
        failed,
        failure);
  }

  // The task.

  private boolean step() {
    long now = missed();
    if (now >= due) {
      due = now + window;
      try {
        movePart(open());
      } catch (PandoException | VirtualMachineError e) {
        // Sessions meet the cause, too. All is as before.
        fail(e);
      }
    }
    return false;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the task alone.
  private void fail(Throwable e) {
    failed++;
    failure = e;
    OrcaContext opened = context;
    if (opened != null) {
      opened.abandon(e);
    }
  }

  private void movePart(OrcaContext own) {
    PartHolder most = holders.getFirst();
    @Nullable PartHolder least = null;
    double highest = -1;
    double lowest = Double.MAX_VALUE;
    for (int i = 0; i < holders.size(); i++) {
      PartHolder holder = holders.get(i);
      earnings[i] += (holder.earned() - earnings[i]) / MEMORY;
      double earned = earnings[i];
      if (earned > highest) {
        highest = earned;
        most = holder;
      }
      if (earned < lowest && holder.parts() > holder.partsMin()) {
        lowest = earned;
        least = holder;
      }
    }
    if (least != null && highest > CLEARLY * lowest) {
      move(own, least, most);
    }
  }

  private void move(OrcaContext own, PartHolder from, PartHolder to) {
    int part = from.next();
    // Whether the part has gone, or is kept already: while sessions run, it must not be touched.
    boolean[] settled = {false};
    try {
      from.empty(part);
      to.expect(part);
      server.alone(
          own.worker,
          () -> {
            if (from.release(part)) {
              settled[0] = true;
              pass(part, from, to);
            }
          });
    } finally {
      if (!settled[0]) {
        from.keep(part);
      }
    }
  }

  private void pass(int part, PartHolder from, PartHolder to) {
    boolean received = false;
    try {
      to.receive(part);
      received = true;
      countMove();
    } finally {
      if (!received) {
        from.keep(part);
      }
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the task alone.
  private void countMove() {
    moved++;
  }

  /** Opened by the task itself: a worker belongs to one thread. */
  private OrcaContext open() {
    OrcaContext opened = context;
    if (opened == null) {
      opened = new OrcaContext(server, fabric);
      holders =
          List.of(
              new RecordParts(opened, recordPartsMin, tailHits),
              new DeltaParts(opened, merges),
              new ImageParts(opened, parts, pairsRead));
      context = opened;
    }
    return opened;
  }

  /** Waits until the current step has ended. No other one begins before {@link #resume}. */
  void pause(Backoff backoff) {
    steps.pause(backoff);
  }

  /** Goes on. */
  void resume() {
    steps.resume();
  }

  /** Returns the verbs issued so far. */
  VerbCounters verbs() {
    OrcaContext opened = context;
    return opened == null ? new VerbCounters() : opened.worker.counters();
  }

  /** Ends the task. */
  @Override
  public void close() {
    Failures failures = new Failures();
    if (task != null) {
      failures.collect(task::close);
    }
    OrcaContext opened = context;
    if (opened != null && !closed) {
      closed = true;
      failures.collect(opened::close);
    }
    failures.rethrow();
  }
}
