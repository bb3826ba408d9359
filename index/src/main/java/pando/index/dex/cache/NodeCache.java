package pando.index.dex.cache;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.dex.node.NodeLayout;

/**
 * The nodes that a compute server caches, each in a frame of exactly a node's size.
 *
 * <p>Frame 0 is the anchor: an inner node with one child, the root, so that the root is cached,
 * cooled and found like any other node. Several locks are taken from the root downwards; in the
 * other direction a thread only tries to lock and never waits. Thread-safe; each thread passes its
 * own {@link CacheContext}.
 */
public final class NodeCache implements AutoCloseable {
  /*
   * The life of a frame
   * ===================
   *
   *                takeFrame            admit, adopt
   *        FREE ------------> (owned) ---------------> HOT <-----+
   *          ^                                          |        | second chance
   *          |                     sampled, delegated   v        |
   *          +------------------------------------- COOLING -----+
   *                            evicted
   *
   * A worker that misses a node claims it: it pins the parent and puts its I/O flag into the
   * mapping table. The pin keeps the parent from being cooled, split or merged; the flag keeps
   * every other worker of this compute server away from the node, so it can be read, changed and
   * written back outside the frames, or admitted, or left to a memory server's processor, without
   * anybody else reaching it or anything below it.
   *
   * A worker that needs a frame and has none samples HOT frames at random and cools them. An inner
   * node passes the command on to a child that it points to with a swizzled pointer, so that nodes
   * cool from the leaves upwards (path-aware caching, DEX section 5.3). Cooling writes a dirty node
   * back, takes its swizzled pointer out of the parent, and pushes the frame into the cooling map,
   * where it may push out the oldest of its bucket, which is clean and unreachable and thus free at
   * once. A node that is asked for while it cools gets its pointer back.
   *
   * An orphan is a HOT node whose parent is NONE: its parent was shared with other compute servers
   * and came back from the pool without the pointer, because another server had split it. The
   * mapping table still finds the orphan, and the next descent gives it to its new parent.
   */

  /** Result of {@link #claim}: the node is claimed. */
  public static final int CLAIMED = MappingTable.ABSENT;

  /**
   * Result of {@link #claim} and {@link #attach}: the parent or the node changed meanwhile;
   * restart.
   */
  public static final int STALE = -2;

  /** Result of {@link #claim}: another worker has claimed the node; wait and restart. */
  public static final int BUSY = -3;

  /**
   * Result of {@link #attach}: the node is attached to its parent again, or was dropped and must be
   * fetched; restart.
   */
  public static final int ATTACHED = 0;

  /**
   * Result of {@link #attach}: the node is attached to its parent, but its copy is older than the
   * parent.
   */
  public static final int OLD = 1;

  /** Result of {@link #attach}: the node cannot be a child of this parent. */
  public static final int MISFIT = 2;

  private static final int ABANDONED_MAX = 64;
  private static final int ALIGNMENT = 64;

  private final NodeLayout layout;
  private final int frames;
  private final Fabric fabric;
  private final RegisteredMemory registered;
  private final MemorySegment memory;
  private final MappingTable mapping;
  private final FreeFrames free;
  private final Swizzles swizzles;
  private final DirtyNodes dirty;
  private final Cooler cooler;
  private final OldCopies oldCopies;
  private final BitSet openContexts = new BitSet();
  private final int contextsMax;
  private final CacheContext house;
  private final AtomicInteger nextEntry;
  private final int entries;

  /**
   * Creates an empty cache.
   *
   * @param fabric where its memory is registered
   * @param layout of the nodes
   * @param capacity maximum number of nodes, at least 1
   * @param coolingCapacity number of candidates for eviction to keep, among those
   * @param samples nodes to cool at a time, at least 1
   * @param sessionsMax contexts that can be open together besides {@link #house}, at least 1
   */
  public static NodeCache create(
      Fabric fabric,
      NodeLayout layout,
      int capacity,
      int coolingCapacity,
      int samples,
      int sessionsMax) {
    int frames = capacity + 1;
    int contexts = sessionsMax + 1;
    RegisteredMemory registered =
        fabric.register(layout.offset(frames) + contexts * scratchBytes(layout));
    try {
      return new NodeCache(
          fabric, registered, layout, capacity, coolingCapacity, samples, contexts);
    } catch (Throwable e) {
      registered.close();
      throw e;
    }
  }

  private NodeCache(
      Fabric fabric,
      RegisteredMemory registered,
      NodeLayout layout,
      int capacity,
      int coolingCapacity,
      int samples,
      int contextsMax) {
    this.fabric = fabric;
    this.layout = layout;
    this.frames = capacity + 1;
    this.contextsMax = contextsMax;
    this.registered = registered;
    this.memory = registered.segment();
    this.nextEntry = new AtomicInteger(frames + contextsMax);
    this.entries = frames + contextsMax + ABANDONED_MAX;
    this.mapping = new MappingTable(entries);
    this.free = new FreeFrames(memory, layout, frames, contextsMax);
    this.swizzles = new Swizzles(memory, layout);
    this.dirty = new DirtyNodes(memory, layout, swizzles, frames);
    this.cooler =
        new Cooler(memory, layout, mapping, free, swizzles, capacity, coolingCapacity, samples);
    this.oldCopies = new OldCopies(memory, layout, frames, mapping, swizzles, cooler);
    this.house = open();
    long least = layout.least(memory, Long.MIN_VALUE, house.key(0));
    long greatest = layout.greatest(memory, Long.MAX_VALUE, house.key(1));
    layout.format(memory, anchor(), GlobalAddress.NULL, 0, least, greatest);
    layout.append(memory, anchor(), least, GlobalAddress.NULL);
    Frames.setState(memory, anchor(), Frames.ANCHORED);
    Frames.setParent(memory, anchor(), Frames.NONE);
  }

  /** Returns the context for the maintenance of the cache by its owner. */
  public CacheContext house() {
    return house;
  }

  /** Returns the links between cached nodes. */
  public Swizzles swizzles() {
    return swizzles;
  }

  /** Returns the nodes that are to be written back. */
  public DirtyNodes dirty() {
    return dirty;
  }

  /** Returns the part that removes outdated copies. */
  public OldCopies oldCopies() {
    return oldCopies;
  }

  /** Returns the memory that holds the frames and every context's scratch nodes. */
  public MemorySegment memory() {
    return memory;
  }

  /** Returns the anchor, whose only child is the root. */
  public long anchor() {
    return 0;
  }

  /** Returns the maximum number of nodes in the cache. */
  public int capacity() {
    return frames - 1;
  }

  /**
   * Opens a context for one thread.
   *
   * @throws IllegalStateException if too many are open
   */
  public synchronized CacheContext open() {
    int number = openContexts.nextClearBit(0);
    if (number == contextsMax) {
      throw new IllegalStateException(
          "too many sessions: open=" + (number - 1) + ", max=" + (contextsMax - 1));
    }
    Worker worker = fabric.worker(registered);
    openContexts.set(number);
    return new CacheContext(worker, number, frames + number, scratch(number), layout);
  }

  /** Closes a context; its free frames go to the shared stack. */
  public synchronized void close(CacheContext context) {
    free.giveAll(context);
    if (context.entry == frames + context.number()) {
      // Else a node stays claimed for ever with the I/O flag of this number, which must not be
      // reused.
      openContexts.clear(context.number());
    }
    context.worker.close();
  }

  /** Frees the memory. Nothing is written back. */
  @Override
  public void close() {
    Closing.all(house.worker()::close, registered::close);
  }

  // Claiming and admitting.

  /**
   * Claims a node to which a parent points with a global address, and pins the parent.
   *
   * @param version of the parent when the pointer was read from it
   * @return {@link #CLAIMED}, and then {@link #admit} or {@link #release} must follow; {@link
   *     #STALE}; {@link #BUSY}; or the frame that the node is in, 0 or more, with nothing claimed
   *     or pinned
   */
  public int claim(CacheContext context, long parent, long version, long address) {
    if (context.entry == CacheContext.NO_ENTRY) {
      throw new StalledException("too many CALLs without an answer: calls=" + ABANDONED_MAX);
    }
    Frames.pin(memory, parent);
    int outcome = STALE;
    try {
      outcome = claimBelow(context, parent, version, address);
    } finally {
      if (outcome != CLAIMED) {
        Frames.unpin(memory, parent);
      }
    }
    return outcome;
  }

  private int claimBelow(CacheContext context, long parent, long version, long address) {
    if (!Frames.isCurrent(memory, parent, version)) {
      return STALE;
    }
    context.backoff.transition();
    int found = mapping.insertIfAbsent(context.backoff, address, context.entry);
    context.backoff.transition();
    if (found == CLAIMED && !Frames.isCurrent(memory, parent, version)) {
      // Another worker may have fetched, changed and evicted the node before the claim was made.
      mapping.remove(context.backoff, address, context.entry);
      context.backoff.transition();
      return STALE;
    }
    return found < frames ? found : BUSY;
  }

  /** Gives up a claimed node that was not admitted. */
  public void release(CacheContext context, long parent, long address) {
    mapping.remove(context.backoff, address, context.entry);
    Frames.unpin(memory, parent);
    context.backoff.transition();
  }

  /**
   * Leaves a node claimed for ever, because nobody knows whether its memory server may still change
   * it. Operations that need the node wait for it in vain and end in a StalledException. The
   * context continues with another I/O flag; once there is none left, it can claim no node.
   */
  public void abandon(CacheContext context) {
    int entry = nextEntry.getAndIncrement();
    context.entry = entry < entries ? entry : CacheContext.NO_ENTRY;
  }

  /**
   * Admits a claimed node: swizzles the parent's pointer to it, and ends the claim.
   *
   * @param node a frame from {@link #takeFrame} that holds the node as it is in the pool
   */
  public void admit(CacheContext context, long parent, long address, long node) {
    lock(context, parent);
    boolean linked = swizzles.swizzle(parent, node, address);
    Frames.setParent(memory, node, linked ? parent : Frames.NONE);
    Frames.setClean(memory, node);
    Frames.setState(memory, node, Frames.HOT);
    mapping.replace(context.backoff, address, context.entry, layout.number(node));
    Frames.unlock(memory, node);
    Frames.unlock(memory, parent);
    Frames.unpin(memory, parent);
    context.admissions++;
    context.backoff.transition();
  }

  /**
   * Swizzles the pointer to a node that is cached but not attached: the second chance of a cooling
   * node, or the new parent of an orphan.
   *
   * <p>The copy of a shared node may be older than its parent; then its fences differ from the
   * parent's. Such a copy is dropped if it cools, and fetched again later; an orphan is attached
   * nevertheless and must be refreshed. A copy that is not shared is never older: where its fences
   * differ, the pointer is wrong, and the node stays with the parent that it has.
   *
   * @param version under which the pointer was read from the parent
   * @param index of the pointer's slot
   * @param frame where {@link #claim} found the node
   * @param shared whether the child is shared, as the parent describes it
   * @param isShared returns whether a cached node is shared
   * @return {@link #ATTACHED}, {@link #OLD} for an orphan to be refreshed, {@link #STALE}, or
   *     {@link #MISFIT}
   */
  public int attach(
      CacheContext context,
      long parent,
      long version,
      int index,
      int frame,
      boolean shared,
      LongPredicate isShared) {
    if (!Frames.upgrade(memory, parent, version)) {
      return STALE;
    }
    long node = layout.offset(frame);
    if (node == parent) {
      Frames.unlockUnchanged(memory, parent);
      return MISFIT;
    }
    if (!Frames.tryLock(memory, node)) {
      Frames.unlockUnchanged(memory, parent);
      return STALE;
    }
    int outcome;
    try {
      outcome = attachLocked(context, parent, index, node, shared || isShared.test(node));
    } catch (Throwable e) {
      Frames.unlock(memory, node);
      Frames.unlock(memory, parent);
      throw e;
    }
    if (outcome == ATTACHED || outcome == OLD) {
      context.backoff.transition();
    }
    return outcome;
  }

  private int attachLocked(
      CacheContext context, long parent, int index, long node, boolean mayBeOld) {
    long low = layout.key(memory, parent, index);
    long high = layout.highOfChild(memory, parent, index, context.key(CacheContext.OWN_KEY));
    boolean fits =
        layout.compare(memory, layout.low(memory, node), low) == 0
            && layout.compare(memory, layout.high(memory, node), high) == 0;
    boolean cool = Frames.state(memory, node) == Frames.COOLING;
    boolean found = NodeLayout.address(memory, node) == layout.slot(memory, parent, index);
    boolean other = NodeLayout.level(memory, node) != NodeLayout.level(memory, parent) - 1;
    boolean wrong = other || (!fits && !mayBeOld);
    boolean misfit = found && (Frames.parent(memory, node) == parent || (wrong && !cool));
    if (!found || misfit || !detach(context, node)) {
      Frames.unlock(memory, node);
      Frames.unlockUnchanged(memory, parent);
      return misfit ? MISFIT : STALE;
    }
    if (cool && (other || !fits)) {
      drop(context, node);
      Frames.unlockUnchanged(memory, parent);
      return ATTACHED;
    }
    context.secondChances += cool ? 1 : 0;
    Frames.setState(memory, node, Frames.HOT);
    Frames.setParent(memory, node, parent);
    layout.setSlot(memory, parent, index, GlobalAddress.swizzled(node));
    Frames.unlock(memory, node);
    Frames.unlock(memory, parent);
    return fits ? ATTACHED : OLD;
  }

  /**
   * Removes a node from the cooling map or from its parent, before it is attached to another
   * parent.
   */
  private boolean detach(CacheContext context, long node) {
    int state = Frames.state(memory, node);
    if (state == Frames.COOLING) {
      cooler.forget(context, node);
      return true;
    }
    long parent = Frames.parent(memory, node);
    return state == Frames.HOT && (parent == Frames.NONE || swizzles.unswizzle(parent, node));
  }

  /**
   * Makes a new node, in a frame from {@link #takeFrame}, part of the cache. The caller holds the
   * locks of the parent and of the frame, has stored the pointer in the parent, and unlocks both
   * afterwards.
   */
  public void adopt(CacheContext context, long parent, long node) {
    Frames.setParent(memory, node, parent);
    Frames.setClean(memory, node);
    Frames.setState(memory, node, Frames.HOT);
    int found =
        mapping.insertIfAbsent(
            context.backoff, NodeLayout.address(memory, node), layout.number(node));
    if (found != MappingTable.ABSENT) {
      throw new AssertionError(
          "new node's address is cached: "
              + GlobalAddress.toString(NodeLayout.address(memory, node)));
    }
  }

  // Frames.

  /**
   * Returns a free frame, locked and owned by the caller; evicts a node first if no frame is free.
   *
   * @throws StalledException if every node stays in use
   * @throws MemoryServerLostException if no frame could be freed because dirty nodes belong to a
   *     lost memory server
   */
  public long takeFrame(CacheContext context) {
    return cooler.takeFrame(context);
  }

  /** Returns a frame that was taken and not used to the free frames. */
  public void giveFrame(CacheContext context, long node) {
    free.give(context, layout.number(node));
  }

  /** Drops a node from its frame, which becomes free. The caller holds its lock. */
  public void drop(CacheContext context, long node) {
    cooler.drop(context, node);
  }

  /**
   * Locks a frame; waits if it is locked.
   *
   * @throws StalledException if its holder does not unlock it
   */
  public void lock(CacheContext context, long node) {
    long start = 0;
    for (int attempt = 0; !Frames.tryLock(memory, node); attempt++) {
      long address = NodeLayout.address(memory, node);
      String what = "a frame stayed locked: node";
      start =
          WaitLimit.SHORT.pause(
              context.backoff, attempt, start, what, address, GlobalAddress::toString);
    }
  }

  // The whole cache, while no other thread uses it.

  /**
   * Writes back every dirty node; goes on after a node that cannot be written. No other thread may
   * use the cache meanwhile.
   *
   * @throws MemoryServerLostException if a memory server of some nodes is lost; all others were
   *     written
   * @throws FencedException if the compute server is fenced
   * @throws UnknownOutcomeException if a memory server did not answer, so that some nodes may not
   *     have been written; all others were
   */
  public void flush(CacheContext context) {
    @Nullable PandoException failure = null;
    for (int frame = 1; frame < free.end(); frame++) {
      try {
        dirty.writeAnyway(context, frame);
      } catch (MemoryServerLostException | FencedException | UnknownOutcomeException e) {
        failure = failure instanceof UnknownOutcomeException ? failure : e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Returns the bytes of the nodes that are cached now; only about so many while other threads use
   * the cache.
   */
  public long bytes() {
    long nodes = 0;
    for (int frame = 1; frame < free.end(); frame++) {
      nodes += Frames.state(memory, layout.offset(frame)) == Frames.FREE ? 0 : 1;
    }
    return nodes * layout.nodeBytes();
  }

  /**
   * Drops every node; the anchor then points to the root in the pool. No other thread may use the
   * cache meanwhile, and no node may be dirty.
   */
  public void clear() {
    long root = layout.slot(memory, anchor(), 0);
    if (GlobalAddress.isSwizzled(root)) {
      long address = NodeLayout.address(memory, GlobalAddress.frame(root));
      layout.setSlot(memory, anchor(), 0, address);
    }
    for (int frame = 1; frame < free.end(); frame++) {
      long node = layout.offset(frame);
      if (Frames.state(memory, node) != Frames.FREE) {
        boolean locked = Frames.tryLock(memory, node);
        assert locked : frame;
        Frames.setState(memory, node, Frames.FREE);
        free.give(frame);
      }
    }
    mapping.clear();
    cooler.clear();
  }

  /**
   * Points the anchor to a root. The caller holds the anchor's lock, or no other thread uses the
   * cache.
   */
  public void setRoot(long address, int level) {
    layout.setSlot(memory, anchor(), 0, address);
    NodeLayout.setLevel(memory, anchor(), level + 1);
  }

  private long scratch(int context) {
    return layout.offset(frames) + context * scratchBytes(layout);
  }

  private static long scratchBytes(NodeLayout layout) {
    long bytes =
        layout.offset(CacheContext.SCRATCH_NODES)
            + Worker.CALL_BYTES_MAX
            + (CacheContext.OWN_KEY + 1L) * layout.keyBytes();
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}
