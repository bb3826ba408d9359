package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.fabric.Backoff;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.index.CacheCounters;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.cache.DirtyNodes;
import pando.index.dex.cache.Frames;
import pando.index.dex.node.NodeLayout;
import pando.index.host.GatedWorker;
import pando.index.session.Failures;
import pando.index.session.Request;

/**
 * One worker's operations on the keys of one compute server. The caller is inside the server's
 * gate, and the server owns the keys.
 */
final class PartitionWorker extends GatedWorker {
  /** Results of an attempt on a leaf. */
  private static final int FOUND = 0;

  private static final int ABSENT = 1;
  private static final int FULL = 2;
  private static final int CONFLICT = 3;

  private final DexServer server;
  private final CacheContext context;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final DirtyNodes dirty;
  private final DexDescent descent;
  private final Offload offload;
  private final DexSplits splits;
  private final DexMerges merges;
  private final Trail trail;
  private final DexSize size;

  /** Whether the operation may have changed its entry here, or through a WRITE of its own. */
  private boolean written;

  private long value;

  /** The key that the last floor or ceiling found, and the fence at which a leaf was left. */
  private long key;

  private long resume;
  private int entriesLeft;

  PartitionWorker(DexServer server, int session, CacheContext context) {
    super(server, session, context.worker());
    this.server = server;
    this.context = context;
    this.layout = server.layout;
    this.memory = server.cache.memory();
    this.dirty = server.cache.dirty();
    SharedNodes sharedNodes = new SharedNodes(server, context);
    SharedSplits sharedSplits = new SharedSplits(server, context, sharedNodes);
    this.descent = new DexDescent(server, context, new SharedPath(server, context, sharedNodes));
    this.offload = descent.offload;
    this.splits = new DexSplits(server, context, descent, sharedNodes, sharedSplits);
    this.merges = new DexMerges(server, context, descent, sharedNodes, sharedSplits);
    this.trail = new Trail(memory);
    this.size = new DexSize(server, context, descent);
  }

  /** Returns how the session waits for others. */
  Backoff backoff() {
    return context.worker().backoff();
  }

  /** Opens a session's worker; the session has a number at the server. */
  static PartitionWorker open(DexServer server, int session) {
    CacheContext context = server.enter();
    try {
      return new PartitionWorker(server, session, context);
    } catch (Throwable e) {
      server.leave(context);
      throw e;
    }
  }

  /** Returns the least first word of the server's keys. */
  long low() {
    return server.low();
  }

  /** Returns the greatest first word of the server's keys. */
  long high() {
    return server.high();
  }

  @Override
  protected CacheCounters events() {
    return new CacheCounters(
        descent.leafHits,
        descent.leafMisses,
        descent.innerMisses,
        context.admissions,
        context.coolings,
        context.secondChances,
        context.evictions,
        context.writeBacks,
        offload.offloads,
        offload.fallbacks,
        descent.restarts);
  }

  /** Begins the work of an operation, inside the gate. */
  void begin() {
    descent.begin();
  }

  /** Ends the operation. */
  void end() {
    try {
      // Only after a failure is one in use.
      descent.endFetched();
    } finally {
      exit();
    }
  }

  @Override
  protected void release() {
    server.leave(context);
  }

  /** Copies out the words of the key that the last floor or ceiling found. */
  void copyKey(long[] words) {
    layout.toWords(memory, key, words, 0);
  }

  /** Returns the value that the last operation found. */
  long value() {
    return value;
  }

  /**
   * Executes an operation on one key.
   *
   * @param words of the key
   * @return whether the key was there before
   * @throws UnknownOutcomeException if the entry may have been changed anyway; an {@link Error} is
   *     thrown as it is, with the exception suppressed
   */
  boolean operate(Request wanted, long[] words) {
    long itsKey = wanted(words);
    written = false;
    offload.offer(wanted, itsKey);
    try {
      return switch (wanted.operation()) {
        case GET -> get(itsKey);
        case PUT, PUT_IF_ABSENT, UPDATE, STORE, REPLACE -> store(wanted, itsKey);
        case REMOVE, DISCARD, REMOVE_EXPECTED -> remove(wanted, itsKey);
      };
    } catch (Throwable e) {
      if (written || offload.mayHaveChanged()) {
        throw Failures.uncertain(layout.text(memory, itsKey), e);
      }
      throw e;
    }
  }

  private long wanted(long[] words) {
    return layout.ofWords(words, 0, memory, context.key(KeyPlaces.WANTED));
  }

  private boolean get(long wanted) {
    for (int attempt = 0; ; attempt++) {
      int outcome = descent.find(wanted, false, attempt);
      if (outcome == DexDescent.OFFLOADED) {
        value = offload.value();
        return offload.found();
      }
      long leaf = descent.node;
      long descriptor = NodeLayout.descriptor(memory, leaf);
      int index = layout.floor(memory, leaf, descriptor, wanted);
      boolean found = layout.holds(memory, leaf, index, wanted);
      long current = found ? layout.slot(memory, leaf, index) : 0;
      if (outcome == DexDescent.FETCHED) {
        descent.release();
      } else if (!Frames.isCurrent(memory, leaf, descent.version)) {
        descent.awaitNode(wanted, attempt);
        continue;
      }
      value = current;
      return found;
    }
  }

  private boolean store(Request wanted, long key) {
    boolean eager = false;
    for (int attempt = 0; ; attempt++) {
      int outcome = descent.find(key, eager, attempt);
      if (outcome == DexDescent.OFFLOADED) {
        value = offload.value();
        return offload.found();
      }
      int result =
          outcome == DexDescent.FETCHED ? storeFetched(wanted, key) : storeCached(wanted, key);
      if (result == FOUND || result == ABSENT) {
        return result == FOUND;
      }
      if (result == FULL) {
        splits.makeRoom(key);
        eager = true;
      } else {
        descent.awaitNode(key, attempt);
      }
    }
  }

  private int storeCached(Request wanted, long key) {
    long leaf = descent.node;
    long descriptor = NodeLayout.descriptor(memory, leaf);
    int index = layout.floor(memory, leaf, descriptor, key);
    boolean found = layout.holds(memory, leaf, index, key);
    long before = found ? layout.slot(memory, leaf, index) : 0;
    boolean stores = wanted.stores(found, before);
    boolean full = NodeLayout.countOf(descriptor) >= layout.capacity();
    if (!stores || (!found && full)) {
      if (!Frames.isCurrent(memory, leaf, descent.version)) {
        return CONFLICT;
      }
      value = before;
      return stores ? FULL : found ? FOUND : ABSENT;
    }
    if (!Frames.upgrade(memory, leaf, descent.version)) {
      return CONFLICT;
    }
    if (found) {
      layout.setSlot(memory, leaf, index, wanted.stored());
    } else {
      layout.insert(memory, leaf, index + 1, key, wanted.stored());
    }
    dirty.add(leaf);
    Frames.unlock(memory, leaf);
    context.worker().backoff().transition();
    value = before;
    return found ? FOUND : ABSENT;
  }

  private int storeFetched(Request wanted, long key) {
    try {
      long leaf = descent.node;
      long descriptor = NodeLayout.descriptor(memory, leaf);
      int index = layout.floor(memory, leaf, descriptor, key);
      boolean found = layout.holds(memory, leaf, index, key);
      value = found ? layout.slot(memory, leaf, index) : 0;
      if (!wanted.stores(found, value)) {
        return found ? FOUND : ABSENT;
      }
      if (found) {
        layout.setSlot(memory, leaf, index, wanted.stored());
        layout.resealValue(memory, leaf, index, value, wanted.stored());
      } else if (NodeLayout.countOf(descriptor) < layout.capacity()) {
        layout.insert(memory, leaf, index + 1, key, wanted.stored());
        layout.seal(memory, leaf);
      } else {
        return FULL;
      }
      writeFetched();
      return found ? FOUND : ABSENT;
    } finally {
      descent.release();
    }
  }

  private boolean remove(Request wanted, long key) {
    for (int attempt = 0; ; attempt++) {
      int outcome = descent.find(key, false, attempt);
      if (outcome == DexDescent.OFFLOADED) {
        boolean found = offload.found();
        value = offload.value();
        written = wanted.removes(found, value);
        if (written) {
          mergeIfDue(key, offload.entriesLeft());
        }
        return found;
      }
      int removed =
          outcome == DexDescent.FETCHED ? removeFetched(wanted, key) : removeCached(wanted, key);
      if (removed == CONFLICT) {
        descent.awaitNode(key, attempt);
        continue;
      }
      if (written) {
        mergeIfDue(key, entriesLeft);
      }
      return removed == FOUND;
    }
  }

  private int removeCached(Request wanted, long key) {
    long leaf = descent.node;
    long descriptor = NodeLayout.descriptor(memory, leaf);
    int index = layout.floor(memory, leaf, descriptor, key);
    boolean found = layout.holds(memory, leaf, index, key);
    long before = found ? layout.slot(memory, leaf, index) : 0;
    if (!wanted.removes(found, before)) {
      if (!Frames.isCurrent(memory, leaf, descent.version)) {
        return CONFLICT;
      }
      value = before;
      return found ? FOUND : ABSENT;
    }
    if (!Frames.upgrade(memory, leaf, descent.version)) {
      return CONFLICT;
    }
    layout.delete(memory, leaf, index);
    written = true;
    entriesLeft = NodeLayout.count(memory, leaf);
    dirty.add(leaf);
    Frames.unlock(memory, leaf);
    context.worker().backoff().transition();
    value = before;
    return FOUND;
  }

  private int removeFetched(Request wanted, long key) {
    try {
      long leaf = descent.node;
      int index = layout.floor(memory, leaf, key);
      boolean found = layout.holds(memory, leaf, index, key);
      value = found ? layout.slot(memory, leaf, index) : 0;
      if (!wanted.removes(found, value)) {
        return found ? FOUND : ABSENT;
      }
      layout.delete(memory, leaf, index);
      layout.seal(memory, leaf);
      entriesLeft = NodeLayout.count(memory, leaf);
      writeFetched();
      return FOUND;
    } finally {
      descent.release();
    }
  }

  private void writeFetched() {
    written = true;
    try {
      descent.writeFetched();
    } catch (MemoryServerLostException e) {
      written = false;
      throw e;
    }
  }

  private void mergeIfDue(long wanted, int entries) {
    if (!merges.isDue(entries)) {
      return;
    }
    try {
      merges.merge(wanted);
    } catch (PandoException _) {
      // The removal is done, and no merge is obligatory; an operation on the neighbour fails in the
      // same way.
    }
  }

  /** Returns whether the leaves in which the last floor or ceiling found nothing are unchanged. */
  boolean isTrailCurrent() {
    return trail.isCurrent();
  }

  /**
   * Finds the entry of a key or, if there is none, the one next to it that the server owns. If
   * there is none, {@link #isTrailCurrent} returns later whether that still holds.
   *
   * @param words of the key
   * @param down {@code true} for the greatest key at or below it, {@code false} for the least at or
   *     above it
   */
  boolean neighbour(long[] words, boolean down) {
    long wanted = wanted(words);
    offload.withdraw();
    for (int attempt = 0; ; attempt++) {
      trail.clear();
      long probe = wanted;
      while (true) {
        int found = edgeInLeaf(probe, down, attempt);
        if (found == CONFLICT || !trail.isCurrent()) {
          break;
        }
        if (found == FOUND || isAtEnd(down)) {
          return found == FOUND;
        }
        probe = beyondLeaf(down);
      }
      descent.awaitNode(wanted, attempt);
    }
  }

  /** Returns whether the leaf that was left is the first or the last one of the server. */
  private boolean isAtEnd(boolean down) {
    return down
        ? layout.first(memory, resume) == server.low()
            && layout.endsWith(memory, resume, Long.MIN_VALUE)
        : layout.first(memory, resume) == server.high()
            && layout.endsWith(memory, resume, Long.MAX_VALUE);
  }

  /** Returns the key next to the leaf that was left. */
  private long beyondLeaf(boolean down) {
    long place = context.key(KeyPlaces.PROBE);
    return down ? layout.before(memory, resume, place) : layout.after(memory, resume, place);
  }

  private void leave(long leaf, boolean down) {
    long fence = down ? layout.low(memory, leaf) : layout.high(memory, leaf);
    resume = layout.keep(memory, fence, context.key(KeyPlaces.RESUME));
  }

  /** Searches one leaf; if it has no such key, the leaf is added to the trail. */
  private int edgeInLeaf(long probe, boolean down, int attempt) {
    int outcome = descent.find(probe, !trail.isEmpty(), attempt);
    boolean found = lookForEdge(probe, down);
    if (outcome == DexDescent.FETCHED) {
      descent.release();
      if (found) {
        return FOUND;
      }
      // Only a cached leaf can be added to the trail.
      descent.find(probe, true, attempt);
      found = lookForEdge(probe, down);
    }
    if (!Frames.isCurrent(memory, descent.node, descent.version)) {
      return CONFLICT;
    }
    if (!found) {
      trail.add(descent.node, descent.version);
    }
    return found ? FOUND : ABSENT;
  }

  private boolean lookForEdge(long probe, boolean down) {
    long leaf = descent.node;
    long descriptor = NodeLayout.descriptor(memory, leaf);
    int index = layout.floor(memory, leaf, descriptor, probe);
    if (!down && !layout.holds(memory, leaf, index, probe)) {
      index++;
    }
    boolean found = index >= 0 && index < NodeLayout.countOf(descriptor);
    if (found) {
      key = layout.keep(memory, layout.key(memory, leaf, index), context.key(KeyPlaces.FOUND));
      value = layout.slot(memory, leaf, index);
    }
    leave(leaf, down);
    return found;
  }

  /**
   * Copies a snapshot of one leaf's entries, in key order: those from {@code from} to {@code to} in
   * the leaf of {@code from}.
   *
   * @param fromWords of the key to begin with
   * @param toWords of the last key, beyond or in the same leaf
   * @param down whether {@code to} is below {@code from}, not above it
   * @param max maximum number of entries, for which both arrays have room; those next to {@code
   *     from}
   * @param keys receives the words of the keys
   * @return the number of entries; {@link #goesOn} says what follows
   */
  int copyLeaf(
      long[] fromWords, long[] toWords, boolean down, int max, long[] keys, long[] values) {
    long from = wanted(fromWords);
    long to = layout.ofWords(toWords, 0, memory, context.key(KeyPlaces.LAST));
    offload.withdraw();
    for (int attempt = 0; ; attempt++) {
      int outcome = descent.findNear(from, attempt);
      int copied = copy(descent.node, from, to, down, max, keys, values);
      if (outcome == DexDescent.FETCHED) {
        descent.release();
        return copied;
      }
      if (Frames.isCurrent(memory, descent.node, descent.version)) {
        return copied;
      }
      descent.awaitNode(from, attempt);
    }
  }

  private int copy(
      long leaf, long from, long to, boolean down, int max, long[] keys, long[] values) {
    long descriptor = NodeLayout.descriptor(memory, leaf);
    long least = down ? to : from;
    int first = layout.floor(memory, leaf, descriptor, least);
    if (!layout.holds(memory, leaf, first, least)) {
      first++;
    }
    int last = layout.floor(memory, leaf, descriptor, down ? from : to);
    int entries = Math.clamp(last - first + 1L, 0, max);
    layout.copyOut(memory, leaf, down ? last + 1 - entries : first, entries, keys, values);
    leave(leaf, down);
    return entries;
  }

  @Override
  protected double sizeOf(long low, long high) {
    descent.begin();
    offload.withdraw();
    try {
      return size.of(low, high);
    } finally {
      descent.endFetched();
    }
  }

  /**
   * Returns whether a scan goes on behind the leaf that {@link #copyLeaf} has copied.
   *
   * @param toWords of the last key
   * @param nextWords receives the words of the key that is next, if it goes on
   */
  boolean goesOn(long[] toWords, boolean down, long[] nextWords) {
    long to = layout.ofWords(toWords, 0, memory, context.key(KeyPlaces.LAST));
    int place = layout.compare(memory, resume, to);
    if (down ? place <= 0 : place >= 0) {
      return false;
    }
    layout.toWords(memory, beyondLeaf(down), nextWords, 0);
    return true;
  }
}
