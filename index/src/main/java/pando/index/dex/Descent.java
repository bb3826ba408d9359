package pando.index.dex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.CorruptNodeException;
import pando.index.cache.CacheContext;
import pando.index.cache.Frames;
import pando.index.cache.NodeCache;
import pando.index.node.NodeCheck;
import pando.index.node.NodeLayout;

/**
 * One worker's way from the root to a leaf: through cached nodes under optimistic lock coupling,
 * and past a node that is missing by a READ or by a CALL (DEX, algorithm 1).
 *
 * <p>Belongs to one worker of one compute server.
 */
final class Descent {
  /*
   * A descent starts at the anchor, whose only child is the root, and goes down hand over hand: note
   * the child's version, then make sure that the parent's still stands, and only then believe the
   * pointer. A pointer without the swizzled bit is a node that is cooling, an orphan, or not cached:
   *
   *   - another worker has claimed it: wait, restart;
   *   - it is in a frame: give it back its pointer, restart;
   *   - it is missing: claim it. Then, under the claim, either
   *       the memory server finishes the operation (inner nodes at or below level M, if that is
   *         estimated to be faster),
   *       or a leaf is read into scratch and used there (nine times out of ten, lazy admission),
   *       or the node is read into a frame and admitted, restart.
   *
   * Restarts that follow progress are free; restarts that follow a conflict wait a little longer each
   * time and end in a StalledException.
   *
   * A node shared with other compute servers may be cached in an old version. It leads astray at most
   * to a node whose fences do not hold the key, or to an address where such a node no longer is. Then
   * the shared part of the path is read again from the root on (see SharedPath), and the descent
   * restarts. A private node is nobody else's, so anything odd about it is damage.
   */

  /** A cached node was reached: {@link #node} under {@link #version}. */
  static final int CACHED = 0;

  /** A leaf was read into scratch, to be used there: {@link #release} must follow. */
  static final int FETCHED = 1;

  /** The operation was finished by a memory server: {@link #offload} has the result. */
  static final int OFFLOADED = 2;

  private static final int PROGRESS = 3;
  private static final int CONFLICT = 4;
  private static final int ASTRAY = 5;

  private static final int CONFLICTS_MAX = 20_000;
  private static final int ASTRAY_MAX = 100;
  private static final int PROGRESS_MAX = 100_000;

  private final ComputeServer server;
  private final NodeCache cache;
  private final CacheContext context;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final SharedPath sharedPath;
  private final OffloadPolicy policy;
  private final int subtreeLevel;
  private final double admission;

  /** The offloaded operation, to be set before {@link #find}. */
  final Offload offload;

  /** The node that was reached. */
  long node;

  /** The version under which a cached node was reached. */
  long version;

  /** The parent of the node that was reached. */
  long parent;

  /** The version under which the node's parent was passed. */
  long parentVersion;

  /** The index of the node's slot in its parent. */
  int index;

  private final Missing missing = new Missing();

  /** Whether the last node that was claimed stays so, as a CALL for it was not answered. */
  private boolean abandoned;

  private long conflictAddress;
  private String conflict = "";
  private @Nullable String damage;
  private long damagedAddress;

  /** Looks at a leaf that found it cached. */
  long leafHits;

  /** Looks at a leaf that was not cached: it was fetched, or left to a memory server. */
  long leafMisses;

  /** Inner nodes that had to be fetched. */
  long innerMisses;

  /** Descents begun anew after a conflict. */
  long restarts;

  Descent(ComputeServer server, CacheContext context, SharedPath sharedPath) {
    this.server = server;
    this.cache = server.cache;
    this.context = context;
    this.layout = server.layout;
    this.memory = cache.memory();
    this.sharedPath = sharedPath;
    this.policy = new OffloadPolicy(server.options, context.worker().random());
    this.offload = new Offload(context, layout.nodeBytes());
    this.subtreeLevel = server.options.subtreeLevel();
    this.admission = server.options.caching() ? server.options.admission() : 0;
  }

  /**
   * Goes to the leaf of a key.
   *
   * @param eager whether the leaf must be cached, so that {@link #CACHED} is the only answer
   * @param attempt conflicts that the operation has met already, from 0
   */
  int find(long key, boolean eager, int attempt) {
    return find(key, 0, eager, attempt);
  }

  /**
   * Goes to the node of a key at a level, which is {@link #node} then.
   *
   * @param level of the node; above 0 it is always cached
   */
  int find(long key, int level, boolean eager, int attempt) {
    return find(cache.anchor(), version(cache.anchor()), key, level, eager, attempt);
  }

  /**
   * Goes to the leaf of a key that is likely below the same parent as the leaf reached last: as
   * {@link #find}, and past the upper levels where that parent is unchanged.
   */
  int findNear(long key, int attempt) {
    boolean near =
        parent != cache.anchor()
            && NodeLayout.low(memory, parent) <= key
            && key <= NodeLayout.high(memory, parent)
            && Frames.isCurrent(memory, parent, parentVersion);
    return near ? find(parent, parentVersion, key, 0, false, attempt) : find(key, false, attempt);
  }

  /** Starts at a node under a version, and anew at the anchor where that leads nowhere. */
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
        "nodes on the path leave the cache faster than they come: key="
            + key
            + ", level="
            + level
            + ", attempts="
            + PROGRESS_MAX
            + ", frames="
            + cache.capacity()
            + ", computeServer="
            + server.number);
  }

  private static boolean isFinal(int outcome) {
    return outcome == CACHED || outcome == FETCHED || outcome == OFFLOADED;
  }

  private long version(long node) {
    return Frames.version(memory, node);
  }

  /** Waits after a conflict, or gives up. */
  void awaitConflict(long key, int attempt) {
    restarts++;
    if (attempt >= CONFLICTS_MAX) {
      throw new StalledException(
          "gave up after "
              + attempt
              + " attempts: "
              + conflict
              + ", node="
              + GlobalAddress.toString(conflictAddress)
              + ", key="
              + key
              + ", computeServer="
              + server.number);
    }
    context.worker().backoff().pause(attempt);
  }

  private void awaitFreshPath(long key, int attempt) {
    restarts++;
    if (attempt >= ASTRAY_MAX) {
      throw new CorruptNodeException(
          damagedAddress, damage == null ? "its fences do not hold key=" + key : damage);
    }
    context.worker().backoff().pause(attempt);
    refresh(key);
  }

  /** Brings the shared part of a key's path up to date, and every orphan under its new parent. */
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

  private void dropOld(long address, int level) {
    server.holdOffloading();
    sharedPath.dropOld(address, level);
    adoptOrphans();
  }

  private void adoptOrphans() {
    while (sharedPath.nextOrphan()) {
      try {
        find(sharedPath.orphanLow(), sharedPath.orphanLevel(), true, 0);
      } catch (CorruptNodeException e) {
        // Whoever needs the orphan hears of the damage. Nothing is offloaded any more.
        server.holdOffloading();
      }
    }
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
      boolean holdsKey =
          NodeLayout.low(memory, child) <= key && key <= NodeLayout.high(memory, child);
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

  /** Deals with a pointer that is not swizzled, read from the parent under its version. */
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
    int outcome = cache.attach(context, node, parentVersion, index, frame);
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
    if (!missing.shared) {
      throw new CorruptNodeException(address, problem);
    }
    dropOld(address, missing.level);
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
    boolean done = call();
    policy.callTook(context.worker().nanoTime() - start);
    if (done) {
      leafMisses++;
      if (offload.changedNode() != GlobalAddress.NULL) {
        cache.oldCopies().invalidate(context, offload.changedNode());
      }
    }
    return done;
  }

  private boolean call() {
    try {
      return offload.call(missing.address, missing.level);
    } catch (UnknownOutcomeException e) {
      // The memory server may yet change the subtree, which therefore stays claimed.
      abandoned = true;
      cache.abandon(context);
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

  /** Reads the missing node and checks it; returns what is wrong with it, or {@code null}. */
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
    if (missing.shared
        && NodeLayout.low(memory, node) <= key
        && key <= NodeLayout.high(memory, node)) {
      return null;
    }
    return NodeCheck.fences(memory, node, missing.low, missing.high);
  }

  /** Ends the use of a fetched leaf. */
  void release() {
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

  /** What a parent says of the child that a descent needs and that is not in a frame below it. */
  private final class Missing {
    long address;
    int level;
    long low;
    long high;
    boolean shared;

    /** Takes it from the parent; {@code false} if that changes meanwhile. */
    boolean describe(long pointer) {
      address = pointer;
      level = NodeLayout.level(memory, parent) - 1;
      low = NodeLayout.key(memory, parent, index);
      high = NodeLayout.highOfChild(memory, parent, index);
      shared = server.isShared(level, low, high);
      return Frames.isCurrent(memory, parent, parentVersion);
    }
  }
}
