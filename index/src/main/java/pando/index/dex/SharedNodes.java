package pando.index.dex;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.cache.CacheContext;
import pando.index.cache.PlantedBug;
import pando.index.cache.Swizzles;
import pando.index.lock.Retry;
import pando.index.node.NodeCheck;
import pando.index.node.NodeLayout;

/**
 * The nodes in the pool that several compute servers share: how they are locked, read and written
 * (DEX section 4).
 *
 * <p>Belongs to one worker of one compute server.
 */
final class SharedNodes {
  /*
   * A shared node in the pool is always current: whoever changes it holds its remote lock, a CAS on
   * its lock word, and writes the new image and the unlocked word in one doorbell list. A cached copy
   * may be old, is never dirty, and keeps the checksum of the image it was made from; the copy is
   * current exactly when that checksum still is the pool's.
   *
   * Readers take no lock: a READ that overlaps a WRITE may return parts of both, which the checksum
   * tells, and is done again. That costs one READ where an optimistic lock would cost three. An image
   * that stays torn is damaged.
   *
   * The lock word belongs to the place, not to the node: a node that is allocated where another was
   * freed finds the word there and does not touch it. So a compute server that locks a node which it
   * knows from an old copy does no harm; after locking it sees that the node is another, and lets go.
   */

  /** The scratch node that is used here; a caller has the others. */
  static final int FRESH = 0;

  private static final int ATTEMPTS_MAX = 10_000;

  /** Looks at a lock that somebody holds while he splits: seconds, where he needs microseconds. */
  private static final int SETTLING_MAX = 2_000;

  /** READs of a torn image: a tenth of a second, where a WRITE takes a microsecond. */
  private static final int READS_MAX = 200;

  private static final int HELD_MAX = 4;
  private static final ValueLayout.OfLong LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final CacheContext context;
  private final Worker worker;
  private final NodeLayout layout;
  private final NodeGuard guard;
  private final Swizzles swizzles;
  private final MemorySegment memory;
  private final VerbList list = new VerbList();
  private final long owner;
  private final long[] held = new long[HELD_MAX];
  private int heldCount;

  SharedNodes(ComputeServer server, CacheContext context) {
    this.context = context;
    this.worker = context.worker();
    this.layout = server.layout;
    this.guard = server.guard;
    this.swizzles = server.cache.swizzles();
    this.memory = server.cache.memory();
    this.owner = ((long) (server.number + 1) << 32) | (context.number() + 1);
  }

  /**
   * Reads a shared node until its image is whole.
   *
   * @return {@code null} if it is the node, else what tells that it is another
   * @throws CorruptNodeException if the image stays torn
   */
  @Nullable String read(long address, long target, int level) {
    String problem = null;
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      layout.readImage(worker, address, target);
      problem = guard.check(memory, target, address, level);
      if (problem == null || isWhole(target)) {
        return problem;
      }
      worker.backoff().pause(attempt);
    }
    throw new CorruptNodeException(address, String.valueOf(problem));
  }

  /**
   * Reads a shared node as {@link #read}, after whoever has locked it is done. A split writes the
   * parent before the child: whoever has seen the parent's new image must wait for the child's.
   *
   * @throws StalledException if it stays locked
   */
  @Nullable String readSettled(long address, long target, int level) {
    long lock = context.message();
    for (int attempt = 0; attempt < SETTLING_MAX; attempt++) {
      // In this order: what is read after the lock was seen free is what its last holder wrote.
      list.clear().read(address + NodeLayout.LOCK, lock, Long.BYTES);
      worker.post(layout.readImage(list, address, target));
      if (memory.get(LONG, lock) == 0) {
        String problem = guard.check(memory, target, address, level);
        return problem == null || isWhole(target) ? problem : read(address, target, level);
      }
      worker.backoff().pause(attempt);
    }
    throw stayedLocked(address, memory.get(LONG, lock), SETTLING_MAX);
  }

  /**
   * Reads a node whose lock is held, as is its parent's if it has one: it can be no other than the
   * one expected.
   */
  void readLocked(long address, long target, int level, long low, long high) {
    String problem = read(address, target, level);
    if (problem == null) {
      problem = NodeCheck.fences(memory, target, low, high);
    }
    if (problem != null) {
      throw new CorruptNodeException(address, problem);
    }
  }

  private boolean isWhole(long node) {
    return NodeLayout.isDescriptor(NodeLayout.descriptor(memory, node))
        && layout.computeChecksum(memory, node) == NodeLayout.checksum(memory, node);
  }

  /** Takes a remote lock, and waits for it. */
  void lock(long address) {
    long found = 0;
    hold(address);
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      found = worker.cas(address + NodeLayout.LOCK, 0, owner);
      if (found == 0) {
        return;
      }
      worker.backoff().pause(attempt);
    }
    release(address);
    throw stayedLocked(address, found, ATTEMPTS_MAX);
  }

  private static StalledException stayedLocked(long address, long holder, int attempts) {
    return new StalledException(
        "a shared node stayed locked: node="
            + GlobalAddress.toString(address)
            + ", holder=computeServer "
            + ((holder >>> 32) - 1)
            + " worker "
            + ((holder & 0xFFFF_FFFFL) - 1)
            + ", attempts="
            + attempts);
  }

  /**
   * Takes the remote lock of a shared node of which the caller has locked the cached copy.
   *
   * @return whether the lock is held and the copy is current; else nothing is held, and the caller
   *     lets go of the copy, refreshes and restarts
   */
  boolean lockCurrent(long node) {
    long address = NodeLayout.address(memory, node);
    long fresh = context.scratchNode(FRESH);
    long found = context.message();
    list.clear().cas(address + NodeLayout.LOCK, 0, owner, found);
    hold(address);
    worker.post(layout.readImage(list, address, fresh));
    if (memory.get(LONG, found) != 0) {
      release(address);
      return false;
    }
    boolean current =
        guard.check(memory, fresh, address, NodeLayout.level(memory, node)) == null
            && NodeLayout.checksum(memory, fresh) == NodeLayout.checksum(memory, node);
    if (!current) {
      unlock(address);
    }
    return current;
  }

  /** Writes a changed copy to the pool and unlocks the node. */
  void publish(long node) {
    long image = context.scratchNode(FRESH);
    swizzles.copyUnswizzled(node, image);
    long checksum = layout.seal(memory, image);
    writeAndUnlock(NodeLayout.address(memory, node), image);
    NodeLayout.setChecksum(memory, node, checksum);
  }

  /**
   * Unlocks every node that is locked or may be, after a failure; another failure joins the first.
   */
  void abandon(Throwable failure) {
    while (heldCount > 0) {
      try {
        takeBack(held[--heldCount]);
      } catch (RuntimeException e) {
        failure.addSuppressed(e);
      }
    }
  }

  /** Notes a lock, before the verb that takes it: its answer may be lost. */
  private void hold(long address) {
    held[heldCount++] = address;
  }

  private void release(long address) {
    for (int i = 0; i < heldCount; i++) {
      if (held[i] == address) {
        held[i] = held[--heldCount];
        return;
      }
    }
    throw new AssertionError("no such remote lock: node=" + GlobalAddress.toString(address));
  }

  /** Unlocks a node. */
  void unlock(long address) {
    long found = owner;
    try {
      found = worker.cas(address + NodeLayout.LOCK, owner, 0);
    } catch (PandoException e) {
      takeBack(address);
    }
    release(address);
    if (found != owner) {
      throw new CorruptNodeException(
          address,
          "its remote lock was lost: owner=0x"
              + Long.toHexString(owner)
              + ", found=0x"
              + Long.toHexString(found));
    }
  }

  /** Unlocks a node if this worker has it locked. */
  private void takeBack(long address) {
    Retry.untilDone(worker, () -> worker.cas(address + NodeLayout.LOCK, owner, 0));
  }

  /** Writes a sealed image and unlocks the node. */
  void writeAndUnlock(long address, long image) {
    memory.set(LONG, image + NodeLayout.LOCK, 0);
    if (PlantedBug.EARLY_UNLOCK) {
      worker.write(address + NodeLayout.LOCK, image + NodeLayout.LOCK, Long.BYTES);
    }
    try {
      postImageAndUnlock(address, image);
    } catch (PandoException e) {
      Retry.untilDone(worker, () -> writeAndUnlockIfLocked(address, image));
    }
    release(address);
  }

  private void postImageAndUnlock(long address, long image) {
    layout
        .writeImage(list.clear(), address, image)
        .write(address + NodeLayout.LOCK, image + NodeLayout.LOCK, Long.BYTES);
    worker.post(list);
  }

  /** The unlock is the end of its list: where it took effect, so did the WRITE of the image. */
  private void writeAndUnlockIfLocked(long address, long image) {
    if (worker.cas(address + NodeLayout.LOCK, owner, owner) == owner) {
      postImageAndUnlock(address, image);
    }
  }
}
