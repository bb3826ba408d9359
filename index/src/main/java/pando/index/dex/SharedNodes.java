package pando.index.dex;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.bugs.PlantedBug;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.cache.DirtyNodes;
import pando.index.dex.cache.Swizzles;
import pando.index.dex.node.NodeLayout;
import pando.index.session.Retry;

/**
 * Locks, reads and writes the nodes in the pool that several compute servers share (DEX section 4).
 *
 * <p>Belongs to one worker of one compute server.
 */
final class SharedNodes {
  /*
   * A shared node in the pool is always current: a worker that changes it takes its remote lock by
   * a CAS on its lock word, and writes the new image and the unlocked word in one doorbell list. A
   * cached copy may be old, is never dirty, and keeps the checksum of the image it was made from;
   * the copy is current exactly if that checksum equals the pool's.
   *
   * Readers take no lock: a READ that overlaps a WRITE may return parts of both images; the
   * checksum detects this, and the READ is repeated. That costs one READ where an optimistic lock
   * would cost three. An image that stays torn is damaged.
   *
   * The lock word belongs to the place, not to the node: a node that is allocated where another was
   * freed inherits its word and does not overwrite it. So a compute server that locks a node which
   * it knows from an old copy does no harm; after locking it detects that the node is another, and
   * unlocks.
   */

  /** Number of the scratch node that is used here; callers may use the others. */
  static final int FRESH = 0;

  /**
   * READs of a locked node until it counts as stuck: seconds, while a split holds the lock for
   * microseconds.
   */
  private static final int SETTLING_MAX = 2_000;

  /**
   * READs of a torn image until it counts as damaged: a tenth of a second, while a WRITE takes a
   * microsecond.
   */
  private static final int READS_MAX = 200;

  private static final int HELD_MAX = 4;

  /** A lock word is the number of the compute server and that of its worker, each from 1. */
  private static final int HOLDER_SHIFT = 32;

  private final CacheContext context;
  private final Worker worker;
  private final NodeLayout layout;
  private final NodeGuard guard;
  private final DirtyNodes dirty;
  private final Swizzles swizzles;
  private final MemorySegment memory;
  private final VerbList list = new VerbList();
  private final long owner;
  private final long[] held = new long[HELD_MAX];
  private int heldCount;

  SharedNodes(DexServer server, CacheContext context) {
    this.context = context;
    this.worker = context.worker();
    this.layout = server.layout;
    this.guard = server.guard;
    this.dirty = server.cache.dirty();
    this.swizzles = server.cache.swizzles();
    this.memory = server.cache.memory();
    this.owner = ((long) (server.number + 1) << HOLDER_SHIFT) | (context.number() + 1);
  }

  /** Returns the compute server that holds a lock, -1 if none does. */
  static int holder(long lock) {
    return (int) (lock >>> HOLDER_SHIFT) - 1;
  }

  /**
   * Reads a shared node, and repeats the READ until the image is whole.
   *
   * @return {@code null} if it is the expected node, else how it differs
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
   * Reads a shared node as {@link #read}, while it is not locked; waits for the holder of its lock.
   *
   * @throws StalledException if it stays locked
   */
  @Nullable String readSettled(long address, long target, int level) {
    long lock = context.message();
    for (int attempt = 0; attempt < SETTLING_MAX; attempt++) {
      // In this order: an image that is read after an unlocked word is the one that the last holder
      // wrote.
      list.clear().read(address + NodeLayout.LOCK, lock, Long.BYTES);
      worker.post(layout.readImage(list, address, target));
      if (Words.get(memory, lock) == 0) {
        String problem = guard.check(memory, target, address, level);
        return problem == null || isWhole(target) ? problem : read(address, target, level);
      }
      worker.backoff().pause(attempt);
    }
    throw stayedLocked(address, Words.get(memory, lock), SETTLING_MAX);
  }

  /**
   * Reads a node whose lock the caller holds, as well as its parent's if it has one. So the node
   * must be the expected one; anything else is damage. A node that a lost compute server left too
   * wide is narrowed in the pool, too.
   */
  void readLocked(long address, long target, int level, long low, long high) {
    String problem = read(address, target, level);
    long checksum = NodeLayout.checksum(memory, target);
    if (problem == null) {
      problem = guard.narrow(memory, target, low, high);
    }
    if (problem != null) {
      throw new CorruptNodeException(address, problem);
    }
    if (NodeLayout.checksum(memory, target) != checksum) {
      finish(() -> layout.writeImage(worker, target));
    }
  }

  private boolean isWhole(long node) {
    return NodeLayout.isDescriptor(NodeLayout.descriptor(memory, node))
        && layout.computeChecksum(memory, node) == NodeLayout.checksum(memory, node);
  }

  /** Takes a remote lock; waits if it is held. */
  void lock(long address) {
    hold(address);
    long start = worker.nanoTime();
    for (int attempt = 0; ; attempt++) {
      long found = worker.cas(address + NodeLayout.LOCK, 0, owner);
      if (found == 0) {
        return;
      }
      if (WaitLimit.SHORT.isOver(worker.nanoTime() - start)) {
        release(address);
        throw stayedLocked(address, found, attempt);
      }
      worker.backoff().pause(attempt);
    }
  }

  private static StalledException stayedLocked(long address, long holder, int attempts) {
    return new StalledException(
        "a shared node stayed locked: node=%s, holder=computeServer %s worker %s, attempts=%s"
            .formatted(
                GlobalAddress.toString(address),
                holder(holder),
                (holder & 0xFFFF_FFFFL) - 1,
                attempts));
  }

  /**
   * Takes the remote lock of a shared node; the caller has locked its cached copy. Does not wait.
   *
   * @return whether the remote lock is held and the copy is current; else the remote lock is not
   *     held, and the caller unlocks the copy, refreshes and restarts
   */
  boolean lockCurrent(long node) {
    long address = NodeLayout.address(memory, node);
    long fresh = context.scratchNode(FRESH);
    long found = context.message();
    list.clear().cas(address + NodeLayout.LOCK, 0, owner, found);
    hold(address);
    worker.post(layout.readImage(list, address, fresh));
    if (Words.get(memory, found) != 0) {
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

  /**
   * Writes a changed node to the pool. The caller has locked its frame and, if it is shared, has
   * its remote lock, which {@link #writeAndUnlock} ends.
   */
  void publish(long node, boolean isShared) {
    if (!isShared) {
      dirty.writeSurely(context, node);
      return;
    }
    long image = context.scratchNode(FRESH);
    swizzles.copyUnswizzled(node, image);
    NodeLayout.setChecksum(memory, node, layout.seal(memory, image));
    writeAndUnlock(NodeLayout.address(memory, node), image);
  }

  /**
   * Unlocks, after a failure, every node that is locked or may be; further failures are added to
   * the first as suppressed.
   */
  void abandon(Throwable failure) {
    while (heldCount > 0) {
      try {
        takeBack(held[--heldCount]);
      } catch (Throwable e) {
        failure.addSuppressed(e);
      }
    }
  }

  /** Records a lock before the verb that takes it, as the verb's answer may be lost. */
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
    } catch (PandoException | Error _) {
      takeBack(address);
    }
    release(address);
    if (found != owner) {
      throw new CorruptNodeException(
          address,
          "its remote lock was lost: owner=0x%s, found=0x%s"
              .formatted(Long.toHexString(owner), Long.toHexString(found)));
    }
  }

  /** Unlocks a node if this worker holds its lock. */
  private void takeBack(long address) {
    Retry.untilDone(worker, () -> worker.cas(address + NodeLayout.LOCK, owner, 0));
  }

  /** Writes a sealed image and unlocks the node; {@linkplain #finish finishes} that. */
  void writeAndUnlock(long address, long image) {
    Words.set(memory, image + NodeLayout.LOCK, 0);
    if (PlantedBug.EARLY_UNLOCK) {
      worker.write(address + NodeLayout.LOCK, image + NodeLayout.LOCK, Long.BYTES);
    }
    try {
      postImageAndUnlock(address, image);
    } catch (PandoException | Error _) {
      finish(() -> writeAndUnlockIfLocked(address, image));
    }
    release(address);
  }

  /**
   * Repeats a step without which nodes in the pool would contradict each other, until it is done.
   *
   * @throws PandoException if it is not done in the end: the last failure, which may be an {@link
   *     Error} instead. All nodes then stay locked, so that no worker changes them.
   */
  void finish(Runnable step) {
    try {
      Retry.untilDone(worker, step);
    } catch (RuntimeException | Error e) {
      heldCount = 0;
      throw e;
    }
  }

  private void postImageAndUnlock(long address, long image) {
    layout
        .writeImage(list.clear(), address, image)
        .write(address + NodeLayout.LOCK, image + NodeLayout.LOCK, Long.BYTES);
    worker.post(list);
  }

  /**
   * Repeats the list only if the lock is still held: the unlock ends the list, so if it took
   * effect, the WRITE of the image did, too.
   */
  private void writeAndUnlockIfLocked(long address, long image) {
    if (worker.cas(address + NodeLayout.LOCK, owner, owner) == owner) {
      postImageAndUnlock(address, image);
    }
  }
}
