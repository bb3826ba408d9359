package pando.index.bytes;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.WaitLimit;
import pando.index.CorruptNodeException;
import pando.index.Session;
import pando.index.blob.Blobs;
import pando.index.session.Failures;

/**
 * Blocks, values and labels that changes have put out of use, as long as the labels in the pool may
 * lead to them. Thread-safe.
 */
final class Superseded {
  /*
   * A label that was stored is in the caches of the index of labels. It gets to the pool when that
   * index is flushed, or at some time before, and so labels get there in any order. A process that
   * dies leaves the labels that the pool has at that moment. They must lead to whole blocks that
   * cover all keys, so:
   *
   *   1. A block that was replaced, and a value that only this block leads to, is freed once the
   *      pool has the label of the new block.
   *   2. The label of a block that was split is stored once the pool has the label of the right
   *      part. Until then it leads to the block before, which has the keys of both.
   *   3. The label of a block that a neighbour has absorbed is discarded once the pool has the
   *      label of that neighbour.
   *
   * All of this is done in rounds. A round flushes the labels; then the pool has those that were
   * stored before it began. It stores the labels that have waited for others (2), and flushes once
   * more. Then it frees and discards what was put out of use before it began.
   *
   * A round leaves out labels of blocks that others have latched. In the pool such a label still
   * leads to the block before it was split, which counts in place of all blocks in its range. It
   * needs its values, and the blocks behind its range. So what was put out of use since a label
   * began to wait is kept as long as that label waits, whichever block it belonged to.
   *
   * The sweeper makes a round in each of its walks. Where the pool is full, or much waits, sessions
   * make one; where it is full, they do without if another one has just made a whole round.
   */

  /** In place of a label: nothing is to be discarded. */
  private static final long NO_LABEL = ByteIndex.NO_LABEL;

  /** Waiting for others takes at most one of so many parts of the pool. */
  private static final int POOL_PART = 16;

  private static final long BYTES_MIN = 1 << 20;
  private static final long BYTES_MAX = 64 << 20;

  /**
   * What is out of use.
   *
   * @param label to discard, {@link #NO_LABEL} if there is none
   * @param seed of the blob
   * @param word of the blob to free
   * @param round in which that was, or after which
   */
  private record Old(long label, long seed, long word, long round) {}

  /** A label that waits for others, and what is in use as long as it waits. */
  private static final class Waiting {
    private final List<Old> old = new ArrayList<>();

    /** The round in which it began to wait, or after which. */
    private volatile long since;

    /** The round in which others were stored for which it waits, or after which. */
    private long round;

    Waiting(long since) {
      this.since = since;
    }
  }

  private final ByteIndex index;
  private final long bytesMax;

  /** Rises when a round begins and when it ends: it is odd while one is under way. */
  private final AtomicLong round = new AtomicLong();

  /** The last round that has ended without a failure; set by the thread that is {@link #busy}. */
  private volatile long ended;

  private final Queue<Old> old = new ConcurrentLinkedQueue<>();

  /**
   * Blocks whose labels wait. Who adds, changes or removes one holds the block's latch. What one
   * waits for goes to another one while this map is locked.
   */
  private final Map<BlockEntry, Waiting> waiting = new ConcurrentHashMap<>();

  private final AtomicLong bytes = new AtomicLong();

  /** Held by the thread that makes a round. It waits for no latch. */
  private final AtomicBoolean busy = new AtomicBoolean();

  Superseded(ByteIndex index, Fabric fabric) {
    this.index = index;
    long capacity = IntStream.range(0, fabric.memoryServers()).mapToLong(fabric::dramBytes).sum();
    this.bytesMax = Math.clamp(capacity / POOL_PART, BYTES_MIN, BYTES_MAX);
  }

  /** Returns whether nothing waits. */
  boolean isEmpty() {
    return old.isEmpty() && waiting.isEmpty();
  }

  /** Returns whether the label of a block must not be stored yet. */
  boolean isWaiting(BlockEntry entry) {
    return waiting.containsKey(entry);
  }

  /** Has the label of a block wait for labels that have been stored. */
  void await(BlockEntry entry) {
    waitingOf(entry).round = round.get();
  }

  private Waiting waitingOf(BlockEntry entry) {
    return waiting.computeIfAbsent(entry, _ -> new Waiting(round.get()));
  }

  /** Frees a blob once no label in the pool leads to it by way of what a block was before. */
  void free(BlockEntry entry, long seed, long word) {
    add(entry, NO_LABEL, seed, word);
  }

  /**
   * Frees what a block was that another one has absorbed, and discards its label, once the pool has
   * the label of the other one.
   *
   * @param entry of the other one; its label waits if that of the absorbed block does
   */
  void absorb(BlockEntry entry, BlockEntry absorbed, long absorbedWord) {
    synchronized (waiting) {
      Waiting its = waiting.get(absorbed);
      if (its != null) {
        Waiting by = waitingOf(entry);
        by.old.addAll(its.old);
        by.since = Math.min(by.since, its.since);
        waiting.remove(absorbed);
      }
    }
    add(entry, absorbed.label(), BlockSession.BLOCKS, absorbedWord);
  }

  private void add(BlockEntry entry, long label, long seed, long word) {
    Old added = new Old(label, seed, word, round.get());
    Waiting its = waiting.get(entry);
    if (its == null) {
      old.add(added);
    } else {
      its.old.add(added);
    }
    bytes.addAndGet(index.space.bytesOf(word));
  }

  /** Returns whether what waits takes so much of the pool that it should be freed. */
  boolean isMuch() {
    return bytes.get() > bytesMax;
  }

  /** Returns a number that rises when a round begins and when it ends. */
  long rounds() {
    return round.get();
  }

  /** Returns whether a round has ended well that began after a time, by {@link #rounds}. */
  boolean hasEndedSince(long since) {
    return ended > since;
  }

  /**
   * Makes a round, unless others have begun and ended one, or nothing waits, nor was a round under
   * way at any time since; returns whether there may be more room in the pool now. Others' rounds
   * leave out the label of a block that this thread has latched: if that waits, this thread makes
   * its own.
   *
   * @param since {@link #rounds} before it was found that there is no room
   */
  boolean makeRoom(long since, Session labels, Blobs blobs, Collection<BlockEntry> latched) {
    boolean isUnderWay = (since & 1) != 0;
    if (old.isEmpty() && waiting.isEmpty() && !isUnderWay && !busy.get() && round.get() == since) {
      return false;
    }
    lock(blobs);
    try {
      if (ended <= since || latched.stream().anyMatch(waiting::containsKey)) {
        makeRound(labels, blobs, latched);
      }
    } finally {
      busy.set(false);
    }
    return true;
  }

  /**
   * Makes a round: afterwards nothing waits that was put out of use before, but where others have
   * blocks latched.
   *
   * @param latched blocks whose latches this thread holds
   * @return whether no label waits that waited before
   * @throws PandoException if a step fails; what is left waits for the next round
   */
  boolean settle(Session labels, Blobs blobs, Collection<BlockEntry> latched) {
    lock(blobs);
    try {
      return makeRound(labels, blobs, latched);
    } finally {
      busy.set(false);
    }
  }

  private void lock(Blobs blobs) {
    long start = 0;
    for (int attempt = 0; !busy.compareAndSet(false, true); attempt++) {
      String what = "another thread does not end writing labels";
      start = WaitLimit.LONG.pause(blobs.worker().backoff(), attempt, start, what);
    }
  }

  /** Makes a round as {@link #settle}, by the thread that is {@link #busy}. */
  private boolean makeRound(Session labels, Blobs blobs, Collection<BlockEntry> latched) {
    long now = round.incrementAndGet();
    List<Old> free = new ArrayList<>();
    try {
      Failures failures = new Failures();
      writeLabels(failures);
      long since = storeWaiting(now, labels, latched, free, failures);
      failures.rethrow();
      keep(since, free);
      takeOld(Math.min(now, since), free);
      free(free, labels, blobs);
      ended = now;
      return since >= now;
    } finally {
      old.addAll(free);
      round.incrementAndGet();
    }
  }

  /** Writes labels. Those that need a lost memory server or a damaged node keep no others back. */
  private void writeLabels(Failures failures) {
    try {
      index.labels.writeBack();
    } catch (MemoryServerLostException | CorruptNodeException e) {
      failures.add(e);
    }
  }

  /** Has what was put out of use since a label began to wait wait on. */
  private void keep(long since, List<Old> free) {
    free.removeIf(each -> each.round >= since && old.add(each));
  }

  /**
   * Stores labels that waited, and flushes them.
   *
   * @param free receives what waited with them
   * @param failures receives those of lost memory servers and damaged nodes
   * @return since which round some have waited that are left, {@link Long#MAX_VALUE} if none is
   */
  private long storeWaiting(
      long now, Session labels, Collection<BlockEntry> latched, List<Old> free, Failures failures) {
    long since = Long.MAX_VALUE;
    boolean isAnyStored = false;
    for (Map.Entry<BlockEntry, Waiting> each : allWaiting()) {
      BlockEntry entry = each.getKey();
      boolean isLatched = latched.contains(entry);
      boolean isStored = false;
      if (isLatched || entry.tryLatch()) {
        try {
          isStored = storeWaiting(entry, now, labels, free);
        } finally {
          if (!isLatched) {
            entry.unlatch();
          }
        }
      }
      isAnyStored |= isStored;
      if (!isStored) {
        since = Math.min(since, each.getValue().since);
      }
    }
    if (isAnyStored) {
      writeLabels(failures);
    }
    return since;
  }

  /** Returns all blocks whose labels wait, in the order of their labels. */
  private List<Map.Entry<BlockEntry, Waiting>> allWaiting() {
    List<Map.Entry<BlockEntry, Waiting>> all;
    synchronized (waiting) {
      all = new ArrayList<>(waiting.entrySet());
    }
    all.sort(Comparator.comparingLong(each -> each.getKey().label()));
    return all;
  }

  private boolean storeWaiting(BlockEntry entry, long now, Session labels, List<Old> free) {
    Waiting its = waiting.get(entry);
    if (its == null || its.round >= now) {
      return false;
    }
    if (entry.state().isGone()) {
      // An error struck before another block had taken over what waited.
      waiting.remove(entry);
      return false;
    }
    labels.store(entry.label(), entry.state().word());
    waiting.remove(entry);
    free.addAll(its.old);
    return true;
  }

  private void takeOld(long before, List<Old> free) {
    for (Old next = old.peek(); next != null && next.round < before; next = old.peek()) {
      free.add(old.remove());
    }
  }

  /** Frees all of a list, and takes it out of that. */
  private void free(List<Old> all, Session labels, Blobs blobs) {
    while (!all.isEmpty()) {
      Old next = all.getLast();
      if (next.label != NO_LABEL) {
        labels.discard(next.label);
      }
      all.removeLast();
      bytes.addAndGet(-index.space.bytesOf(next.word));
      blobs.free(next.seed, next.word);
    }
    blobs.freeWaiting();
  }
}
