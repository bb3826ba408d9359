package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.host.DescentCounters;

/**
 * Reads or locks the leaf of a key: all leaves that can cover the key by the model's prediction, in
 * one READ, in a list with the READs of known synonym leaves (ROLEX, one-sided operations). Fences
 * show which leaf covers the key.
 *
 * <p>A model that is old leads to leaves that are retired, or to what has taken their place. Then
 * the model's page is read again.
 */
final class RolexLeaves {
  private static final int RESTARTS_MAX = 2_000;

  /** Failures in a row after which to read the model's page again, whatever the leaves say. */
  private static final int READS_TO_A_REFRESH = 4;

  /** Failures after which to read the leaf under its lock. */
  private static final int READS_MAX = 64;

  /**
   * After so many attempts in a row in which an unchanged model has no leaf for the key, its leaves
   * count as damaged.
   */
  private static final int DAMAGES_MAX = 3;

  private final RolexLeafLayout layout;
  private final RunLayout runs;
  private final ModelTable models;
  private final ModelPages pages;
  private final Chains chains;
  private final ModelLocks locks;
  private final Worker worker;
  private final MemorySegment memory;
  private final long buffer;
  private final VerbList reads = new VerbList();
  private final ModelView before;
  final DescentCounters counters;

  private int first;
  private int count;

  /** The model by which the last leaf was looked for. */
  final ModelView model;

  /** The leaf that was found. */
  final LeafCursor leaf = new LeafCursor();

  RolexLeaves(RolexContext context) {
    this.layout = context.server.leaves;
    this.runs = context.server.runs;
    this.models = context.server.models;
    this.pages = context.pages;
    this.chains = context.chains;
    this.counters = context.counters;
    this.locks = context.modelLocks;
    this.worker = context.worker;
    this.memory = context.memory;
    this.buffer = context.leaves;
    this.model = new ModelView(context.server.options.epsilon(), layout.delta());
    this.before = new ModelView(context.server.options.epsilon(), layout.delta());
  }

  /**
   * Reads the leaf of a key, once.
   *
   * @return whether it was found; if not, the caller should call {@link #astray}
   */
  boolean read(long key) {
    findModel(key);
    addReads(key);
    worker.post(reads);
    return locate(key);
  }

  /**
   * Records that a leaf or its chain could not be read, refreshes the model if needed, and pauses.
   *
   * @return whether to go on reading without a lock
   * @throws StalledException if {@code attempt} has reached its limit
   */
  boolean astray(long key, int attempt) {
    counters.restarts++;
    if (attempt >= RESTARTS_MAX) {
      throw stalled(key);
    }
    if (hasRetired() || attempt % READS_TO_A_REFRESH == READS_TO_A_REFRESH - 1) {
      pages.refresh(key);
    }
    if (attempt > 0) {
      worker.backoff().pauseBriefly(attempt);
    }
    return attempt < READS_MAX;
  }

  /**
   * Locks a key's model and reads the leaf of the key; both in one round trip if the lock is free.
   *
   * @throws CorruptNodeException if the leaf is damaged
   */
  void lock(long key) {
    int damages = 0;
    for (int attempt = 0; attempt < RESTARTS_MAX; attempt++) {
      findModel(key);
      addReads(key);
      long place = model.place;
      if (locks.lockAndRead(key, place, reads)) {
        if (locate(key)) {
          return;
        }
        locks.unlock(place);
      }
      counters.restarts++;
      before.set(model);
      pages.refresh(key);
      damages = models.find(key, model) && model.isSame(before) ? damages + 1 : 0;
      if (damages == DAMAGES_MAX) {
        throw new CorruptNodeException(
            runs.leafAddress(model.place, first),
            "no leaf of the model's run covers a key: key=%s, leaves=%s, run=%s"
                .formatted(key, count, RunLayout.toString(model.place)));
      }
      worker.backoff().pauseBriefly(attempt);
    }
    throw stalled(key);
  }

  /** Unlocks the model that {@link #lock} locked. */
  void unlock() {
    locks.unlock(model.place);
  }

  /** Finds the model of a key, which may be old. */
  void findModel(long key) {
    if (models.find(key, model)) {
      counters.leafHits++;
    } else {
      counters.leafMisses++;
      pages.find(key, model);
    }
  }

  private void addReads(long key) {
    first = model.first(key);
    count = model.last(key) - first + 1;
    long start = runs.leafAddress(model.place, first);
    reads.clear().read(start, buffer, count * layout.bytes());
    int memoryServer = GlobalAddress.server(start);
    for (int i = 0; i < count; i++) {
      chains.addKnown(reads, i, start + (long) i * layout.bytes(), memoryServer);
    }
  }

  /** Finds, in what was read, the leaf that covers a key; {@code false} if none does. */
  private boolean locate(long key) {
    for (int i = 0; i < count; i++) {
      long image = buffer + (long) i * layout.bytes();
      if (RolexLeafLayout.covers(memory, image, key)) {
        leaf.set(i, image, runs.leafAddress(model.place, first + i), model.stamp);
        if (layout.isWhole(memory, image, leaf.identity())) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean hasRetired() {
    for (int i = 0; i < count; i++) {
      if (RolexLeafLayout.isRetired(memory, buffer + (long) i * layout.bytes())) {
        return true;
      }
    }
    return false;
  }

  private StalledException stalled(long key) {
    return new StalledException(
        "no attempt found the leaf that covers a key: key=%s, run=%s, restarts=%s"
            .formatted(key, RunLayout.toString(model.place), RESTARTS_MAX));
  }
}
