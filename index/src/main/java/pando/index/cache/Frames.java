package pando.index.cache;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import pando.index.node.NodeLayout;

/**
 * The part of a node's header that belongs to the cache: an optimistic lock, and the frame's place
 * in the tree.
 *
 * <p>The lock word is a version while even, and held while odd; letting go of it makes the next
 * version. A reader notes the version, reads, and checks with {@link #isCurrent} that it still
 * stands before it believes what it read (optimistic lock coupling, Leis et al. 2016). Readers
 * never block writers; a reader may have to restart. A frame that holds no node stays locked.
 *
 * <p>State, dirty flag and parent are written under the frame's lock, the parent also under the
 * lock of the parent's frame alone; pins are atomic.
 */
public final class Frames {
  /** Holds no node. */
  public static final int FREE = 0;

  /** Holds a node that a cached parent points to with a swizzled pointer. */
  public static final int HOT = 1;

  /** Holds a clean node that no pointer swizzles: a candidate for eviction. */
  public static final int COOLING = 2;

  /** Holds the anchor above the root, which never leaves. */
  public static final int ANCHORED = 3;

  /** No frame. */
  public static final long NONE = -1;

  private static final VarHandle LONG = JAVA_LONG.varHandle().withInvokeExactBehavior();
  private static final VarHandle INT = JAVA_INT.varHandle().withInvokeExactBehavior();

  /** Frames start at multiples of 64, so a parent's offset fits in 4 bytes. */
  private static final int PARENT_SHIFT = 6;

  private Frames() {}

  /** Returns the version of a frame's lock, odd while it is held. */
  public static long version(MemorySegment memory, long node) {
    return (long) LONG.getAcquire(memory, node + NodeLayout.LOCK);
  }

  /** Tells whether a version means that the lock is held. */
  public static boolean isLocked(long version) {
    return (version & 1) != 0;
  }

  /** Tells whether all that was read since {@code version} was noted can be believed. */
  public static boolean isCurrent(MemorySegment memory, long node, long version) {
    VarHandle.acquireFence();
    return (long) LONG.get(memory, node + NodeLayout.LOCK) == version;
  }

  /** Takes the lock if the version still stands. Does not wait. */
  public static boolean upgrade(MemorySegment memory, long node, long version) {
    boolean taken = LONG.compareAndSet(memory, node + NodeLayout.LOCK, version, version | 1);
    // Orders the lock before what its holder stores, and before the pins that its holder looks at.
    VarHandle.fullFence();
    return taken;
  }

  /** Takes the lock if nobody holds it. Does not wait. */
  public static boolean tryLock(MemorySegment memory, long node) {
    long version = version(memory, node);
    return !isLocked(version) && upgrade(memory, node, version);
  }

  /** Lets go of the lock; optimistic readers restart. */
  public static void unlock(MemorySegment memory, long node) {
    long held = (long) LONG.get(memory, node + NodeLayout.LOCK);
    LONG.setRelease(memory, node + NodeLayout.LOCK, held + 1);
  }

  /** Lets go of the lock under which nothing changed; optimistic readers go on. */
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
    // or
    // the one who pins sees the lock.
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

  /** Tells whether the node differs from its image in the pool. */
  public static boolean isDirty(MemorySegment memory, long node) {
    return (int) INT.get(memory, node + NodeLayout.DIRTY) != 0;
  }

  /** Marks the node as different from, or equal to, its image in the pool. */
  public static void setDirty(MemorySegment memory, long node, boolean dirty) {
    INT.set(memory, node + NodeLayout.DIRTY, dirty ? 1 : 0);
  }

  /** Returns the frame of the parent that points here with a swizzled pointer, or {@link #NONE}. */
  public static long parent(MemorySegment memory, long node) {
    int parent = (int) INT.get(memory, node + NodeLayout.PARENT);
    return parent < 0 ? NONE : (long) parent << PARENT_SHIFT;
  }

  /** Sets the frame of the parent. */
  public static void setParent(MemorySegment memory, long node, long parent) {
    INT.set(memory, node + NodeLayout.PARENT, parent == NONE ? -1 : (int) (parent >> PARENT_SHIFT));
  }
}
