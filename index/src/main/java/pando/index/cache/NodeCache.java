package pando.index.cache;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.index.node.NodeLayout;

/**
 * The nodes that a compute server caches, each in a frame of exactly a node's size.
 *
 * <p>Frame 0 is the anchor: an inner node with one child, the root, so that the root is cached,
 * cooled and found like any other node. Where several locks are held, they were taken from the root
 * downwards; the other way round a lock is only ever tried. Thread-safe; each thread comes with its
 * {@link CacheContext}.
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
   * A worker that misses a node claims it: it pins the parent and puts its I/O flag into the mapping
   * table. The pin keeps the parent from being cooled, split or merged; the flag keeps every other
   * worker of this compute server away from the node, so it can be read, changed and written back
   * outside the frames, or admitted, or left to a memory server's processor, without anybody else
   * reaching it or anything below it.
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

  /** What {@link #claim} answers besides a frame's number. */
  public static final int CLAIMED = MappingTable.ABSENT;

  /** The parent changed meanwhile: restart. */
  public static final int STALE = -2;

  /** Another worker has claimed the node: wait and restart. */
  public static final int BUSY = -3;

  /** The node is under its parent again, or is to be fetched: restart. */
  public static final int ATTACHED = 0;

  /** The node is under its parent again, and older than the parent. */
  public static final int OLD = 1;

  /** The node cannot be a child of this parent. */
  public static final int MISFIT = 2;

  private static final int WAITS_MAX = 20_000;
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
   * @param capacity nodes to hold, at least 1
   * @param coolingCapacity of those, candidates for eviction to keep
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
    this.free = new FreeFrames(memory, layout, frames);
    this.swizzles = new Swizzles(memory, layout);
    this.cooler =
        new Cooler(memory, layout, mapping, free, swizzles, capacity, coolingCapacity, samples);
    this.oldCopies = new OldCopies(memory, layout, frames, mapping, swizzles, cooler);
    NodeLayout.format(memory, anchor(), GlobalAddress.NULL, 0, Long.MIN_VALUE, Long.MAX_VALUE);
    layout.append(memory, anchor(), Long.MIN_VALUE, GlobalAddress.NULL);
    Frames.setState(memory, anchor(), Frames.ANCHORED);
    Frames.setParent(memory, anchor(), Frames.NONE);
    this.house = open();
  }

  /** Returns the context with which the cache's owner looks after it. */
  public CacheContext house() {
    return house;
  }

  /** Returns what ties cached nodes to each other. */
  public Swizzles swizzles() {
    return swizzles;
  }

  /** Returns what finds copies that are out of date. */
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

  /** Returns the nodes that the cache can hold. */
  public int capacity() {
    return frames - 1;
  }

  /**
   * Opens a context for one thread.
   *
   * @throws IllegalStateException where too many are open
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

  /** Ends a context; its frames serve others. */
  public synchronized void close(CacheContext context) {
    free.giveAll(context);
    if (context.entry == frames + context.number()) {
      // Else the I/O flag of this number stands for good, and nobody may have it again.
      openContexts.clear(context.number());
    }
    context.worker.close();
  }

  /** Lets go of the memory. Nothing is written back. */
  @Override
  public void close() {
    house.worker().close();
    registered.close();
  }

  // Claiming and admitting.

  /**
   * Claims a node that a parent points to with a global address, and pins the parent.
   *
   * @param version under which the pointer was read from the parent
   * @return {@link #CLAIMED}, and then {@link #admit} or {@link #release} must follow; {@link
   *     #STALE}; {@link #BUSY}; or the frame that the node is in, 0 or more, with nothing claimed
   *     or pinned
   */
  public int claim(CacheContext context, long parent, long version, long address) {
    if (context.entry == CacheContext.NO_ENTRY) {
      throw new StalledException("too many CALLs without an answer: calls=" + ABANDONED_MAX);
    }
    Frames.pin(memory, parent);
    if (!Frames.isCurrent(memory, parent, version)) {
      Frames.unpin(memory, parent);
      return STALE;
    }
    context.backoff.transition();
    int found = mapping.insertIfAbsent(context.backoff, address, context.entry);
    context.backoff.transition();
    if (found == CLAIMED && !Frames.isCurrent(memory, parent, version)) {
      // Another worker may have fetched, changed and evicted the node before the claim was made.
      release(context, parent, address);
      return STALE;
    }
    if (found == CLAIMED) {
      return CLAIMED;
    }
    Frames.unpin(memory, parent);
    return found < frames ? found : BUSY;
  }

  /** Gives up a claimed node that was not admitted. */
  public void release(CacheContext context, long parent, long address) {
    mapping.remove(context.backoff, address, context.entry);
    Frames.unpin(memory, parent);
    context.backoff.transition();
  }

  /**
   * Leaves a node claimed for ever, because a memory server may yet change it. Whoever needs it
   * waits in vain; the context goes on with another I/O flag, and claims nothing once there is
   * none.
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
    Frames.setDirty(memory, node, false);
    Frames.setState(memory, node, Frames.HOT);
    mapping.replace(context.backoff, address, context.entry, layout.number(node));
    Frames.unlock(memory, node);
    Frames.unlock(memory, parent);
    Frames.unpin(memory, parent);
    context.admissions++;
    context.backoff.transition();
  }

  /**
   * Gives a cached node that no pointer swizzles back to a parent that points to it: the second
   * chance of a cooling node, or the new home of an orphan.
   *
   * <p>The copy of a shared node may be too old for its parent, which its fences tell. A cooling
   * one is dropped, to be fetched anew; an orphan is attached all the same, and has to be
   * refreshed.
   *
   * @param version under which the pointer was read from the parent
   * @param index of the pointer's slot
   * @param frame where {@link #claim} found the node
   * @return {@link #ATTACHED}, {@link #OLD} for an orphan to be refreshed, {@link #STALE}, or
   *     {@link #MISFIT}
   */
  public int attach(CacheContext context, long parent, long version, int index, int frame) {
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
    boolean fits =
        NodeLayout.low(memory, node) == NodeLayout.key(memory, parent, index)
            && NodeLayout.high(memory, node) == NodeLayout.highOfChild(memory, parent, index);
    boolean cool = Frames.state(memory, node) == Frames.COOLING;
    boolean found = NodeLayout.address(memory, node) == layout.slot(memory, parent, index);
    boolean other = NodeLayout.level(memory, node) != NodeLayout.level(memory, parent) - 1;
    boolean misfit = found && (Frames.parent(memory, node) == parent || (other && !cool));
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
    context.backoff.transition();
    return fits ? ATTACHED : OLD;
  }

  /** Frees a node from whatever held it, before it is attached to another parent. */
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
   * lock of the parent, has put the pointer there, and lets go of both locks.
   */
  public void adopt(CacheContext context, long parent, long node) {
    Frames.setParent(memory, node, parent);
    Frames.setDirty(memory, node, false);
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
   * Returns a free frame, locked and owned by the caller, who makes room for it if need be.
   *
   * @throws StalledException where every node stays in use
   * @throws MemoryServerLostException where some could not be written back for that
   */
  public long takeFrame(CacheContext context) {
    return cooler.takeFrame(context);
  }

  /** Gives back a frame that was taken and not used. */
  public void giveFrame(CacheContext context, long node) {
    free.give(context, layout.number(node));
  }

  /** Drops a node from its frame, which becomes free. The caller holds its lock. */
  public void drop(CacheContext context, long node) {
    cooler.drop(context, node);
  }

  /**
   * Takes a frame's lock, and waits for it.
   *
   * @throws StalledException where its holder does not let go
   */
  public void lock(CacheContext context, long node) {
    for (int attempt = 0; attempt < WAITS_MAX; attempt++) {
      if (Frames.tryLock(memory, node)) {
        return;
      }
      context.backoff.pause(attempt);
    }
    throw new StalledException(
        "a frame stayed locked: frame="
            + layout.number(node)
            + ", node="
            + GlobalAddress.toString(NodeLayout.address(memory, node))
            + ", attempts="
            + WAITS_MAX);
  }

  // The whole cache, while nobody else uses it.

  /**
   * Writes back every dirty node that can be. Nobody else may use the cache meanwhile.
   *
   * @throws MemoryServerLostException where some could not, after all others were
   * @throws UnknownOutcomeException where nobody knows whether some were, after all others were
   */
  public void flush(CacheContext context) {
    @Nullable PandoException failure = null;
    for (int frame = 1; frame < free.end(); frame++) {
      long node = layout.offset(frame);
      if (Frames.state(memory, node) != Frames.HOT || !Frames.isDirty(memory, node)) {
        continue;
      }
      long copy = context.scratchNode(0);
      swizzles.copyUnswizzled(node, copy);
      layout.seal(memory, copy);
      try {
        layout.writeImage(context.worker, copy);
      } catch (MemoryServerLostException | UnknownOutcomeException e) {
        failure = failure instanceof UnknownOutcomeException ? failure : e;
        continue;
      }
      Frames.setDirty(memory, node, false);
      context.writeBacks++;
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Returns the bytes of the nodes that are cached now, about so many while others use it. */
  public long bytes() {
    long nodes = 0;
    for (int frame = 1; frame < free.end(); frame++) {
      nodes += Frames.state(memory, layout.offset(frame)) == Frames.FREE ? 0 : 1;
    }
    return nodes * layout.nodeBytes();
  }

  /**
   * Drops every node; the anchor then points to the root in the pool. Nobody else may use the cache
   * meanwhile, and nothing dirty may be left.
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

  /** Points the anchor to a root. The caller holds the anchor's lock, or is alone. */
  public void setRoot(long address, int level) {
    layout.setSlot(memory, anchor(), 0, address);
    NodeLayout.setLevel(memory, anchor(), level + 1);
  }

  private long scratch(int context) {
    return layout.offset(frames) + context * scratchBytes(layout);
  }

  private static long scratchBytes(NodeLayout layout) {
    long bytes = layout.offset(CacheContext.SCRATCH_NODES) + Worker.CALL_BYTES_MAX;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}
