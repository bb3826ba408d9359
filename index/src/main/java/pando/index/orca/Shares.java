package pando.index.orca;

import java.util.Comparator;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.VerbCounters;
import pando.index.host.PausableSteps;
import pando.index.orca.delta.Deltas;
import pando.index.orca.parts.CacheParts;
import pando.index.orca.records.HomeTable;
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
   *   deltas    the merges for want of memory, each a READ and a WRITE of a leaf, for each part: a
   *             delta that is twice as large is merged half as often
   *
   * After each window one part moves, if the other cache earns clearly more by it. Records are moved,
   * and deltas' blocks merged away, so that a part is empty before it is given to the other.
   */

  /**
   * A window is this fraction of the records that the memory can hold, in keys that were missed.
   */
  private static final int WINDOWS = 64;

  private static final int WINDOW_MIN = 128;

  /** Time of a card for a READ of a segment, in nanoseconds. */
  private static final long SEGMENT_NANOS = 18;

  /** Time of a card for a READ and a WRITE of a leaf, in nanoseconds. */
  private static final long MERGE_NANOS = 640;

  /** By how much one cache must earn more than the other. */
  private static final double CLEARLY = 1.25;

  /** Records keep one part of so many. */
  private static final int RECORDS_LEAST = 16;

  /** Attempts to merge all blocks of a part away while sessions go on. */
  private static final int PASSES = 8;

  private final OrcaServer server;
  private final Fabric fabric;
  private final RecordCache records;
  private final Deltas deltas;
  private final CacheParts parts;
  private final int recordPartsMin;
  private final long window;
  private final LongAdder tailHits = new LongAdder();
  private final LongAdder merges = new LongAdder();
  private final PausableSteps steps = new PausableSteps();
  private final @Nullable BackgroundTask task;
  private volatile long due;
  private volatile long moved;
  private volatile long failed;
  private volatile @Nullable Throwable failure;
  private volatile @Nullable OrcaContext context;
  private @Nullable PartMoves moves;
  private @Nullable Merges merging;
  private boolean closed;

  /** Creates the shares; what each cache has now is what it starts with. */
  Shares(OrcaServer server, Fabric fabric, CacheParts parts) {
    this.server = server;
    this.fabric = fabric;
    this.records = server.records;
    this.deltas = server.deltas;
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
    if (task != null && server.admissions() >= due) {
      task.wake();
    }
  }

  /** Returns which cache has how much. */
  CacheShares now() {
    int ofRecords = records.homes().inUse().length;
    return new CacheShares(
        ofRecords * parts.bytesOfPart(),
        (parts.count() - ofRecords) * parts.bytesOfPart(),
        moved,
        failed,
        failure);
  }

  // The task.

  private boolean step() {
    long now = server.admissions();
    if (now >= due) {
      due = now + window;
      try {
        movePart();
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

  private void movePart() {
    int recordParts = records.homes().inUse().length;
    int deltaParts = parts.count() - recordParts;
    double ofRecords = (double) tailHits.sumThenReset() * SEGMENT_NANOS / recordParts;
    double ofDeltas = (double) merges.sumThenReset() * MERGE_NANOS / deltaParts;
    OrcaContext own = open();
    if (ofDeltas > CLEARLY * ofRecords && recordParts > recordPartsMin) {
      giveToDeltas(own);
    } else if (ofRecords > CLEARLY * ofDeltas && deltaParts > 1) {
      giveToRecords(own);
    }
  }

  private void giveToDeltas(OrcaContext own) {
    int[] inUse = records.homes().inUse();
    int part = inUse[inUse.length - 1];
    server.alone(
        own.worker,
        () -> {
          Objects.requireNonNull(moves).take(part);
          deltas.add(part);
          countMove();
        });
  }

  private void giveToRecords(OrcaContext own) {
    int part = emptiestOfDeltas();
    deltas.retire(part);
    try {
      for (int pass = 0; pass < PASSES && deltas.bytesUsed(part) > 0; pass++) {
        Objects.requireNonNull(merging).mergePart(part);
      }
      server.alone(own.worker, () -> giveToRecords(part));
    } finally {
      if (!records.homes().isInUse(part)) {
        deltas.add(part);
      }
    }
  }

  private void giveToRecords(int part) {
    if (deltas.bytesUsed(part) == 0) {
      Objects.requireNonNull(moves).give(part);
      countMove();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Written by the task alone.
  private void countMove() {
    moved++;
  }

  private int emptiestOfDeltas() {
    HomeTable homes = records.homes();
    return IntStream.range(0, parts.count())
        .filter(part -> !homes.isInUse(part))
        .boxed()
        .min(Comparator.comparingLong(deltas::bytesUsed))
        .orElseThrow();
  }

  /** Opened by the task itself: a worker belongs to one thread. */
  private OrcaContext open() {
    OrcaContext opened = context;
    if (opened == null) {
      opened = new OrcaContext(server, fabric);
      moves = new PartMoves(opened);
      merging = new Merges(opened);
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
