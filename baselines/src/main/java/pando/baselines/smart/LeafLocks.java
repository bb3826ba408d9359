package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.memory.Words;
import pando.index.bugs.PlantedBug;
import pando.index.session.Retry;

/**
 * The leaf that a worker has locked: one at a time. A leaf that is being made is locked from its
 * beginning. In partitions, a leaf is locked locally, and names no owner.
 */
final class LeafLocks {
  private static final long COMPARED =
      PlantedBug.SMART_IMAGE_WRITTEN
          ? LeafLayout.OWNER_MASK
          : LeafLayout.OWNER_MASK | LeafLayout.LIFE_MASK;

  private static final long FREE = LeafLayout.state(0, LeafLayout.LIVE, 0);

  private final SmartContext context;
  private final boolean local;
  private final Worker worker;
  private final MemorySegment memory;
  private final long scratch;
  private final long word;

  /** Whom a leaf names that this worker has locked. */
  private final int owner;

  private final long locked;

  private long held;
  private int heldOwner;
  private long state;

  LeafLocks(SmartContext context) {
    this.context = context;
    this.local = context.server.partitioned;
    this.worker = context.worker;
    this.memory = context.memory;
    this.scratch = context.newLeaf;
    this.word = context.words;
    this.owner = local ? 0 : context.owner;
    this.locked = LeafLayout.state(owner, LeafLayout.LIVE, 0);
  }

  /**
   * Locks the leaf that was READ last if it is live and not locked, and, in partitions, has not
   * changed; returns whether it was.
   */
  boolean tryLock(long address) {
    held = address;
    heldOwner = owner;
    if (local) {
      state = LeafLayout.state(memory, context.leaf);
      if (context.held.tryLock(address, context.leaves.number())) {
        return true;
      }
      forget();
      return false;
    }
    state =
        worker.maskedCas(address + LeafLayout.STATE, FREE, COMPARED, locked, LeafLayout.OWNER_MASK);
    if (((state ^ FREE) & COMPARED) == 0) {
      return true;
    }
    forget();
    return false;
  }

  /** Returns the state that the last attempt to lock a leaf has found. */
  long found() {
    return state;
  }

  /** Notes a leaf that is written with this worker as its owner. */
  void hold(long address) {
    held = address;
    heldOwner = context.owner;
  }

  /** Notes that no leaf is locked any more; unlocks what is locked locally. */
  void forget() {
    held = GlobalAddress.NULL;
    context.held.unlock();
  }

  /** Unlocks the leaf as it is. */
  void unlock() {
    if (!local) {
      Words.set(memory, word, state);
      worker.write(held + LeafLayout.STATE, word, Long.BYTES);
    }
    forget();
  }

  /** Unlocks the leaf after a failure. */
  void abandon(Throwable failure) {
    long address = held;
    if (address == GlobalAddress.NULL) {
      return;
    }
    held = GlobalAddress.NULL;
    Closing.after(
        failure,
        () -> Retry.untilDone(worker, () -> release(worker, memory, scratch, address, heldOwner)));
  }

  /**
   * Unlocks a leaf whose owner has failed, if the owner has still locked it. A leaf that was not
   * live yet becomes dead. Of a leaf that is not whole, either value may be there: the check and
   * the counter are made to fit the next change, so that nobody takes the value before for this
   * one.
   *
   * @param scratch local offset of {@link LeafLayout#BYTES} that are overwritten
   */
  static void release(Worker worker, MemorySegment memory, long scratch, long address, int owner) {
    worker.read(address, scratch, LeafLayout.BYTES);
    long left = LeafLayout.state(memory, scratch);
    if (LeafLayout.owner(left) != owner) {
      return;
    }
    int life = LeafLayout.life(left) == LeafLayout.UNBORN ? LeafLayout.DEAD : LeafLayout.life(left);
    long released = LeafLayout.with(left, 0, life);
    if (!LeafLayout.isWhole(memory, scratch)) {
      released = LeafLayout.state(0, life, LeafLayout.counter(left) + 1);
      long key = LeafLayout.key(memory, scratch);
      LeafLayout.set(memory, scratch, key, LeafLayout.value(memory, scratch), released);
      worker.write(address + LeafLayout.CHECK, scratch + LeafLayout.CHECK, Long.BYTES);
    }
    worker.cas(address + LeafLayout.STATE, left, released);
  }
}
