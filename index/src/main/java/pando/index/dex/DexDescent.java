package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.WaitLimit;
import pando.index.CorruptNodeException;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.cache.Frames;
import pando.index.dex.cache.NodeCache;
import pando.index.dex.node.NodeLayout;
import pando.index.session.Retry;

/**
 * One worker's descent from the root to a leaf: through cached nodes under optimistic lock
 * coupling; a node that is not cached is fetched by a READ, or the operation is offloaded by a CALL
 * (DEX, algorithm 1).
 *
 * <p>Belongs to one worker of one compute server.
 */
final class DexDescent {
  /*
   * A descent starts at the anchor, whose only child is the root, and goes down node by node: note
   * the child's version, then check that the parent's is unchanged, and only then use the pointer.
   * A pointer without the swizzled bit leads to a node that is cooling, orphaned, or not cached:
   *
   *   - another worker has claimed it: wait, restart;
   *   - it is in a frame: swizzle the pointer to it, restart;
   *   - it is missing: claim it. Then, under the claim, either
   *       the memory server finishes the operation (an inner node at or below level M, if that is
   *         estimated to be faster),
   *       or a leaf is read into scratch and used there (by default nine times in ten: lazy
   *         admission),
   *       or the node is read into a frame and admitted, restart.
   *
   * A restart after progress does not wait; a restart after a conflict waits a little longer each
   * time, and ends in a StalledException where that takes too long.
   *
   * The cached copy of a node that is shared with other compute servers may be old. At worst it
   * leads to a node whose fences do not hold the key, or to an address that no longer holds the
   * node. Then the shared part of the path is read again from the root on (see SharedPath), and
   * the descent restarts. No other compute server changes a private node, so anything unexpected
   * in it is damage.
   */

  /** Result: a cached node was reached, {@link #node} under {@link #version}. */
  static final int CACHED = 0;

  /**
   * Result: a leaf was read into scratch memory, to be used there; {@link #release} must follow.
   */
  static final int FETCHED = 1;

  /** Result: a memory server finished the operation; {@link #offload} has its result. */
  static final int OFFLOADED = 2;

  private static final int PROGRESS = 3;
  private static final int CONFLICT = 4;
  private static final int ASTRAY = 5;

  /**
   * Maximum wait of an operation for other workers. The limit is a time, not a number of conflicts:
   * a worker may hold a node for long that waits for a memory server, or for its turn to run.
   */
  private static final int ASTRAY_MAX = 100;

  private static final int PROGRESS_MAX = 100_000;

  private final DexServer server;
  private final NodeCache cache;
  private final CacheContext context;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final SharedPath sharedPath;
  private final OffloadPolicy policy;
  private final LongPredicate isShared;
  private final int subtreeLevel;
  private final double admission;

  /** The offloaded operation, to be set before {@link #find}. */
  final Offload offload;

  /** The node that was reached. */
  long node;

  /** The version that a cached node had when it was reached. */
  long version;

  /** The parent of the node that was reached. */
  long parent;

  /** The version that the node's parent had when the descent passed it. */
  long parentVersion;

  /** The index of the node's slot in its parent. */
  int index;

  private final Missing missing = new Missing();

  /** Whether the last node that was claimed stays so, as a CALL for it was not answered. */
  private boolean abandoned;

  /** Whether a leaf is in use that was fetched. */
  private boolean fetched;

  /** Whether the operation has waited, and since when. */
  private boolean waits;

  private long waitStart;
  private long conflictAddress;
  private String conflict = "";
  private @Nullable String damage;
  private long damagedAddress;

  /** Accesses to a leaf that was cached. */
  long leafHits;

  /** Accesses to a leaf that was not cached: it was fetched, or the operation was offloaded. */
  long leafMisses;

  /** Inner nodes that had to be fetched. */
  long innerMisses;

  /** Descents restarted after a conflict. */
  long restarts;

  DexDescent(DexServer server, CacheContext context, SharedPath sharedPath) {
    this.server = server;
    this.cache = server.cache;
    this.context = context;
    this.layout = server.layout;
    this.memory = cache.memory();
    this.sharedPath = sharedPath;
    this.isShared = server::isShared;
    this.policy = new OffloadPolicy(server.options, context.worker().random());
    this.offload = new Offload(server, context);
    this.subtreeLevel = server.options.subtreeLevel();
    this.admission = server.options.caching() ? server.options.admission() : 0;
  }

  /**
   * Descends to the leaf of a key.
   *
   * @param eager whether the leaf must be cached, so that {@link #CACHED} is the only result
   * @param attempt number of conflicts that the operation has had before, from 0
   */
  int find(long key, boolean eager, int attempt) {
    return find(key, 0, eager, attempt);
  }

  /**
   * Descends to the node of a key at a level, and sets {@link #node} to it.
   *
   * @param level of the node; above 0 it is always cached
   */
  int find(long key, int level, boolean eager, int attempt) {
    return find(cache.anchor(), version(cache.anchor()), key, level, eager, attempt);
  }

  /**
   * Descends to the leaf of a key that is probably below the same parent as the leaf reached last:
   * as {@link #find}, but starts at that parent if it is unchanged.
   */
  int findNear(long key, int attempt) {
    boolean near =
        parent != cache.anchor()
            && layout.covers(memory, parent, key)
            && Frames.isCurrent(memory, parent, parentVersion);
    return near ? find(parent, parentVersion, key, 0, false, attempt) : find(key, false, attempt);
  }

  /** Starts at a node under a version, and restarts at the anchor after a conflict. */
  private int find(long start, long startVersion, long key, int level, boolean eager, int attempt) {
    long from = start;
    long fromVersion = startVersion;
    long misses = leafMisses;
    int conflicts = attempt;
    int astray = 0;
    for (int progress = 0; progress < PROGRESS_MAX; progress++) {
      int outcome = goDown(from, fromVersion, key, level, eager);
      if (isFinal(outcome)) {
        leafHits += level == 0 && leafMisses == misses ? 1 : 0;
        return outcome;
      }
      if (outcome == CONFLICT) {
        awaitConflict(key, conflicts++);
      } else if (outcome == ASTRAY) {
        awaitFreshPath(key, astray++);
      }
      from = cache.anchor();
      fromVersion = version(from);
    }
    throw new StalledException(
        ("nodes on the path are evicted faster than they are fetched:"
                + " key=%s, level=%s, attempts=%s, frames=%s, computeServer=%s")
            .formatted(
                layout.text(memory, key), level, PROGRESS_MAX, cache.capacity(), server.number));
  }

  private static boolean isFinal(int outcome) {
    return outcome == CACHED || outcome == FETCHED || outcome == OFFLOADED;
  }

  private long version(long node) {
    return Frames.version(memory, node);
  }

  /** Begins an operation, whose waits have a limit together. */
  void begin() {
    waits = false;
  }

  /** Waits after the node that was reached could not be used. */
  void awaitNode(long key, int attempt) {
    conflict("the node changes or is in use", node);
    awaitConflict(key, attempt);
  }

  /** Waits after a conflict; throws a StalledException once the operation has waited too long. */
  private void awaitConflict(long key, int attempt) {
    restarts++;
    long now = context.worker().nanoTime();
    if (!waits) {
      waits = true;
      waitStart = now;
    }
    if (WaitLimit.LONG.isOver(now - waitStart)) {
      throw new StalledException(
          "%s: node=%s, key=%s, computeServer=%d, attempts=%d, waitedNanos=%d"
              .formatted(
                  conflict,
                  GlobalAddress.toString(conflictAddress),
                  layout.text(memory, key),
                  server.number,
                  attempt,
                  now - waitStart));
    }
    context.worker().backoff().pause(attempt);
  }

  private void awaitFreshPath(long key, int attempt) {
    restarts++;
    if (attempt >= ASTRAY_MAX) {
      throw new CorruptNodeException(
          damagedAddress,
          damage == null ? "its fences do not hold key=" + layout.text(memory, key) : damage);
    }
    context.worker().backoff().pause(attempt);
    refresh(key);
  }

  /**
   * Refreshes the cached copies of the shared part of a key's path, and attaches every orphan to
   * its new parent.
   */
  void refresh(long key) {
    server.holdOffloading();
    sharedPath.refresh(key);
    adoptOrphans();
  }

  private void refreshBelow(long node, long key) {
    server.holdOffloading();
    sharedPath.refreshChild(node, key);
    adoptOrphans();
  }

  /** As {@link SharedPath#dropOld}; adopts the orphans, too. */
  private boolean dropOld(long address, int level) {
    server.holdOffloading();
    boolean old = sharedPath.dropOld(address, level);
    adoptOrphans();
    return old;
  }

  private void adoptOrphans() {
    // The descent to an orphan may come here for others, whose keys take the same place.
    long[] outer = new long[layout.keyWords()];
    layout.toWords(memory, context.key(KeyPlaces.ORPHAN), outer, 0);
    while (sharedPath.nextOrphan()) {
      try {
        find(sharedPath.orphanLow(), sharedPath.orphanLevel(), true, 0);
      } catch (CorruptNodeException _) {
        // An operation that needs the orphan reports the damage. Until the cache is emptied,
        // nothing is offloaded.
        server.holdOffloading();
      }
    }
    layout.ofWords(outer, 0, memory, context.key(KeyPlaces.ORPHAN));
    server.resumeOffloading();
  }

  private int goDown(long from, long fromVersion, long key, int level, boolean eager) {
    long at = from;
    long atVersion = fromVersion;
    while (!Frames.isLocked(atVersion)) {
      long descriptor = NodeLayout.descriptor(memory, at);
      parent = at;
      parentVersion = atVersion;
      index = layout.floor(memory, at, descriptor, key);
      long pointer = layout.slot(memory, at, Math.max(index, 0));
      if (!GlobalAddress.isSwizzled(pointer)) {
        return fetch(pointer, key, eager);
      }
      long child = GlobalAddress.frame(pointer);
      if (!Frames.isCurrent(memory, at, atVersion)) {
        return conflict("a node on the path changes", at);
      }
      long childVersion = Frames.version(memory, child);
      long childDescriptor = NodeLayout.descriptor(memory, child);
      boolean holdsKey = layout.covers(memory, child, key);
      if (!Frames.isCurrent(memory, at, atVersion)) {
        return conflict("a node on the path changes", at);
      }
      int expectedLevel = NodeLayout.levelOf(descriptor) - 1;
      at = child;
      atVersion = childVersion;
      if (!holdsKey || NodeLayout.levelOf(childDescriptor) != expectedLevel) {
        return !Frames.isLocked(atVersion) && Frames.isCurrent(memory, at, atVersion)
            ? astray(NodeLayout.address(memory, at), null)
            : conflict("a node on the path changes", at);
      }
      if (NodeLayout.levelOf(childDescriptor) <= level) {
        node = at;
        version = atVersion;
        return Frames.isLocked(atVersion) ? conflict("the node is locked", at) : CACHED;
      }
    }
    return conflict("a node on the path is locked", at);
  }

  /** Handles a pointer that is not swizzled, which was read from the parent under its version. */
  private int fetch(long address, long key, boolean eager) {
    boolean current = index >= 0 && missing.describe(address);
    int claim = current ? cache.claim(context, parent, parentVersion, address) : NodeCache.STALE;
    if (claim == NodeCache.STALE) {
      return conflict("a node on the path changes", parent);
    }
    if (claim == NodeCache.BUSY) {
      conflict = "another worker fetches the node";
      conflictAddress = address;
      return CONFLICT;
    }
    return claim == NodeCache.CLAIMED ? fetchClaimed(key, eager) : attach(claim, key);
  }

  private int attach(int frame, long key) {
    long node = parent;
    int outcome =
        cache.attach(context, node, parentVersion, index, frame, missing.shared, isShared);
    if (outcome == NodeCache.MISFIT) {
      return misfit();
    }
    if (outcome == NodeCache.OLD) {
      refreshBelow(node, key);
    }
    return outcome == NodeCache.STALE ? conflict("a cooling node changes", node) : PROGRESS;
  }

  private int misfit() {
    long address = missing.address;
    String problem = "the node at its address is no child of the one that points to it";
    boolean old = dropOld(address, missing.level);
    if (!old && !missing.shared) {
      throw new CorruptNodeException(address, problem);
    }
    return astray(address, problem);
  }

  private int fetchClaimed(long key, boolean eager) {
    boolean held = true;
    abandoned = false;
    try {
      int outcome = useClaimed(key, eager);
      held = outcome == OFFLOADED || outcome == ASTRAY;
      return outcome;
    } finally {
      if (held && !abandoned) {
        release();
      }
    }
  }

  private int useClaimed(long key, boolean eager) {
    if (missing.level == 0) {
      leafMisses++;
      if (!eager && context.worker().random().nextDouble() >= admission) {
        return readLeaf(key);
      }
    } else {
      innerMisses++;
      if (!eager && mayOffload() && offloaded()) {
        return OFFLOADED;
      }
    }
    return admit(key);
  }

  private boolean mayOffload() {
    return !missing.shared
        && missing.level <= subtreeLevel
        && offload.isOffered()
        && policy.enabled()
        && server.mayOffload()
        && policy.prefersCall(missing.level + 1);
  }

  private boolean offloaded() {
    long start = context.worker().nanoTime();
    boolean done;
    @Nullable Throwable unanswered = null;
    try {
      done = offload.call(missing.address, missing.level);
    } catch (UnknownOutcomeException | Error e) {
      unanswered = e;
      done = settle(e);
    }
    policy.callTook(context.worker().nanoTime() - start);
    if (done) {
      leafMisses++;
      if (offload.changedNode() != GlobalAddress.NULL) {
        cache.oldCopies().invalidate(context, offload.changedNode());
      }
    }
    if (unanswered instanceof Error error) {
      throw error;
    }
    return done;
  }

  /**
   * Finds out whether an operation was offloaded whose CALL was not answered. Where the memory
   * server is lost, or this compute server is fenced, no operation reads the subtree any more, so
   * those that wait for the claim may fail, too.
   */
  private boolean settle(Throwable unanswered) {
    try {
      return offload.settle(missing.address);
    } catch (Throwable e) {
      boolean mayReadLater = !(e instanceof MemoryServerLostException) && !Retry.isFenced(e);
      if (offload.mayHaveChanged() && mayReadLater) {
        // The memory server may yet change the subtree, which therefore stays claimed.
        abandoned = true;
        cache.abandon(context);
      }
      e.addSuppressed(unanswered);
      throw e;
    }
  }

  private int readLeaf(long key) {
    long scratch = context.scratchNode(0);
    String problem = read(scratch, key);
    if (problem != null) {
      return damaged(problem);
    }
    node = scratch;
    fetched = true;
    return FETCHED;
  }

  private int admit(long key) {
    long frame = cache.takeFrame(context);
    boolean admitted = false;
    try {
      String problem = read(frame, key);
      if (problem != null) {
        return damaged(problem);
      }
      cache.admit(context, parent, missing.address, frame);
      admitted = true;
      return PROGRESS;
    } finally {
      if (!admitted) {
        cache.giveFrame(context, frame);
      }
    }
  }

  /**
   * Reads the missing node and checks it; returns the problem, or {@code null} if there is none.
   */
  private @Nullable String read(long node, long key) {
    boolean timed = policy.samplesRead();
    long start = timed ? context.worker().nanoTime() : 0;
    layout.readImage(context.worker(), missing.address, node);
    if (timed) {
      policy.readTook(context.worker().nanoTime() - start);
    }
    String problem = server.guard.check(memory, node, missing.address, missing.level);
    if (problem != null) {
      return problem;
    }
    if (missing.shared) {
      return layout.covers(memory, node, key)
          ? null
          : "its fences do not hold key=" + layout.text(memory, key);
    }
    return server.guard.narrow(memory, node, missing.low, missing.high);
  }

  /** Ends the use of a fetched leaf, if one is in use. */
  void endFetched() {
    if (fetched) {
      release();
    }
  }

  /** Ends the use of a fetched leaf. */
  void release() {
    fetched = false;
    cache.release(context, parent, missing.address);
  }

  /** Writes a fetched leaf back; its checksum must be up to date. */
  void writeFetched() {
    layout.writeImage(context.worker(), node);
  }

  private int damaged(String problem) {
    if (!missing.shared) {
      throw new CorruptNodeException(missing.address, problem);
    }
    return astray(missing.address, problem);
  }

  private int astray(long address, @Nullable String problem) {
    damagedAddress = address;
    damage = problem;
    return ASTRAY;
  }

  private int conflict(String what, long node) {
    conflict = what;
    conflictAddress = NodeLayout.address(memory, node);
    return CONFLICT;
  }

  /**
   * The missing child that a descent needs, as its parent describes it: address, level and fences.
   */
  private final class Missing {
    long address;
    int level;
    long low;
    long high;
    boolean shared;

    /**
     * Copies the description from the parent; returns {@code false} if the parent changes
     * meanwhile.
     */
    boolean describe(long pointer) {
      address = pointer;
      level = NodeLayout.level(memory, parent) - 1;
      low =
          layout.keep(
              memory, layout.key(memory, parent, index), context.key(KeyPlaces.MISSING_LOW));
      high = layout.highOfChild(memory, parent, index, context.key(KeyPlaces.MISSING_HIGH));
      shared = server.isShared(level, low, high);
      return Frames.isCurrent(memory, parent, parentVersion);
    }
  }
}
