package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.function.BooleanSupplier;
import pando.fabric.Backoff;

/**
 * How a worker uses its compute server's cache, so that a copy of a node that the compute server
 * alone changes is current, and says what is absent without a READ.
 *
 * <p>Such a node is changed under its local lock. Its copy is dropped before the change begins, and
 * the changed node is copied before the lock is let go. What was READ without the lock becomes a
 * copy only if nobody has taken the lock since before the READ. So no copy is older than a change
 * that has begun. When a range moves, all copies are dropped.
 */
final class OwnCopies {
  private final SmartServer server;
  private final PathCache cache;
  private final PlaceLocks locks;
  private final Backoff backoff;
  private final MemorySegment memory;

  /** The node that is admitted, and what the number of its lock was. */
  private long address;

  private int number;

  private final BooleanSupplier isUnchanged;

  OwnCopies(SmartContext context) {
    this.server = context.server;
    this.cache = server.cache;
    this.locks = server.placeLocks;
    this.backoff = context.worker.backoff();
    this.memory = context.memory;
    this.isUnchanged = () -> number != PlaceLocks.HELD && locks.number(locks.of(address)) == number;
  }

  /**
   * Holds a copy of a node that was READ.
   *
   * @param before what {@link HeldPlaces#number} was before the READ
   */
  void admit(long image, long node, int before) {
    address = node;
    number = before;
    cache.admit(memory, image, node, backoff, isOwned(image) ? isUnchanged : OwnCopies::always);
  }

  /** Holds a copy of a node that this worker has locked locally. */
  void admitHeld(long image, long node) {
    cache.admit(memory, image, node, backoff, OwnCopies::always);
  }

  private static boolean always() {
    return true;
  }

  /** Drops the copy of a node that this worker has locked locally. */
  void drop(long image) {
    cache.drop(memory, image, backoff);
  }

  /** Takes a node from its copy, in place of a READ; returns whether that is current. */
  boolean take(Copy copy, long image) {
    return server.owns(NodeLayout.prefix(copy.header), copy.depth()) && takeOld(copy, image);
  }

  /** Takes a node from its copy, which may be old; returns whether the cache still has it. */
  boolean takeOld(Copy copy, long image) {
    return cache.copy(copy, memory, image, backoff);
  }

  private boolean isOwned(long image) {
    long header = NodeLayout.header(memory, image);
    return server.owns(NodeLayout.prefix(header), NodeLayout.depth(header));
  }
}
