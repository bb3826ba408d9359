package pando.index.dex.cache;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import pando.index.dex.node.NodeLayout;

/**
 * The part of a node's header that belongs to the cache: an optimistic lock, and the frame's place
 * in the tree.
 *
 * <p>The lock word is a version: even while unlocked, odd while locked; unlocking makes the next
 * version. A reader notes the version, reads, and uses what it read only if {@link #isCurrent} says
 * that the version is unchanged (optimistic lock coupling, Leis et al. 2016). Readers never block
 * writers; a reader may have to restart. A frame that holds no node is locked.
 *
 * <p>State, dirty flag and parent are written under the frame's lock; the parent may also be
 * written under the lock of the parent's frame alone. Pins are atomic.
 */
public final class Frames {
  /** State: the frame holds no node. */
  public static final int FREE = 0;

  /**
   * State: the frame holds a node to which a cached parent has a swizzled pointer, or an orphan.
   */
  public static final int HOT = 1;

  /**
   * State: the frame holds a clean node to which no swizzled pointer leads: a candidate for
   * eviction.
   */
  public static final int COOLING = 2;

  /** State: the frame holds the anchor above the root, which is never evicted. */
  public static final int ANCHORED = 3;

  /** No frame. */
  public static final long NONE = -1;

  private static final VarHandle LONG = JAVA_LONG.varHandle().withInvokeExactBehavior();
  private static final VarHandle INT = JAVA_INT.varHandle().withInvokeExactBehavior();

  /** Frames start at multiples of 64, so a parent's offset fits in 4 bytes. */
  private static final int PARENT_SHIFT = 6;

  private Frames() {}

  /** Returns the version of a frame's lock, odd while it is locked. */
  public static long version(MemorySegment memory, long node) {
    return (long) LONG.getAcquire(memory, node + NodeLayout.LOCK);
  }

  /** Returns whether a version means that the frame is locked. */
  public static boolean isLocked(long version) {
    return (version & 1) != 0;
  }

  /**
   * Returns whether the frame still has {@code version}, so that all reads since then saw one state
   * of the node.
   */
  public static boolean isCurrent(MemorySegment memory, long node, long version) {
    VarHandle.acquireFence();
    return (long) LONG.get(memory, node + NodeLayout.LOCK) == version;
  }

  /** Locks the frame if the version is unchanged. Does not wait. */
  public static boolean upgrade(MemorySegment memory, long node, long version) {
    boolean taken = LONG.compareAndSet(memory, node + NodeLayout.LOCK, version, version | 1);
    // Orders the lock before its holder's stores, and before its holder's read of the pins.
    VarHandle.fullFence();
    return taken;
  }

  /** Locks the frame if it is unlocked. Does not wait. */
  public static boolean tryLock(MemorySegment memory, long node) {
    long version = version(memory, node);
    return !isLocked(version) && upgrade(memory, node, version);
  }

  /** Unlocks the frame with a new version, so that optimistic readers restart. */
  public static void unlock(MemorySegment memory, long node) {
    long held = (long) LONG.get(memory, node + NodeLayout.LOCK);
    LONG.setRelease(memory, node + NodeLayout.LOCK, held + 1);
  }

  /**
   * Unlocks a frame that was not changed, with the version that it had, so that optimistic readers
   * go on.
   */
  public static void unlockUnchanged(MemorySegment memory, long node) {
    long held = (long) LONG.get(memory, node + NodeLayout.LOCK);
    LONG.setRelease(memory, node + NodeLayout.LOCK, held - 1);
  }

  /**
   * Keeps a frame's node from being cooled, split or merged while one of its children is fetched.
   */
  public static void pin(MemorySegment memory, long node) {
    int before = (int) INT.getAndAdd(memory, node + NodeLayout.PINS, 1);
    assert before >= 0 : before;
    // Orders the pin before the check of the version: either the holder of the lock sees the pin,
    // or the pinning thread sees the lock.
    VarHandle.fullFence();
  }

  /** Undoes one {@link #pin}. */
  public static void unpin(MemorySegment memory, long node) {
    int before = (int) INT.getAndAdd(memory, node + NodeLayout.PINS, -1);
    assert before > 0 : before;
  }

  /** Returns the number of pins. */
  public static int pins(MemorySegment memory, long node) {
    return (int) INT.getAcquire(memory, node + NodeLayout.PINS);
  }

  /** Returns the frame's state. */
  public static int state(MemorySegment memory, long node) {
    return (int) INT.get(memory, node + NodeLayout.STATE);
  }

  /** Sets the frame's state. */
  public static void setState(MemorySegment memory, long node, int state) {
    INT.set(memory, node + NodeLayout.STATE, state);
  }

  /** Returns whether the node differs from its image in the pool. */
  public static boolean isDirty(MemorySegment memory, long node) {
    return (int) INT.get(memory, node + NodeLayout.DIRTY) != 0;
  }

  /** Marks the node as different from its image in the pool. */
  static void setDirty(MemorySegment memory, long node) {
    INT.set(memory, node + NodeLayout.DIRTY, 1);
  }

  /** Marks the node as equal to its image in the pool. */
  public static void setClean(MemorySegment memory, long node) {
    INT.set(memory, node + NodeLayout.DIRTY, 0);
  }

  /** Returns the frame of the parent that has a swizzled pointer to this node, or {@link #NONE}. */
  public static long parent(MemorySegment memory, long node) {
    int parent = (int) INT.get(memory, node + NodeLayout.PARENT);
    return parent < 0 ? NONE : (long) parent << PARENT_SHIFT;
  }

  /** Sets the frame of the parent. */
  public static void setParent(MemorySegment memory, long node, long parent) {
    INT.set(memory, node + NodeLayout.PARENT, parent == NONE ? -1 : (int) (parent >> PARENT_SHIFT));
  }
}
