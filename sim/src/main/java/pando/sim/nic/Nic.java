package pando.sim.nic;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import pando.fabric.layout.ServerLayout;
import pando.sim.time.Resource;

/**
 * A network card: two directions, and atomics on host memory and on its own.
 *
 * <p>An atomic on host memory takes a bucket, by low address bits, for two PCIe transactions. Those
 * that find theirs taken are parked; there is room for a few. When it is full the card takes
 * nothing further from the wire, so that everything waits behind the conflict.
 */
final class Nic {
  final Resource out = new Resource();
  final Resource in = new Resource();
  final Resource onChip = new Resource();

  /** What came while the card took nothing. */
  final Queue<Message> stalled = new ArrayDeque<>();

  private final int bucketMask;
  private final boolean[] taken;
  private final @Nullable Message[] first;
  private final @Nullable Message[] last;
  private final int parkedMax;
  private int parked;
  private final long[] wordFreeAt = new long[ServerLayout.ON_CHIP_BYTES / Long.BYTES];

  Nic(Costs costs) {
    bucketMask = costs.atomicBuckets - 1;
    taken = new boolean[costs.atomicBuckets];
    first = new @Nullable Message[costs.atomicBuckets];
    last = new @Nullable Message[costs.atomicBuckets];
    parkedMax = costs.parkedMax;
  }

  /** Tells whether an atomic's bucket is taken. */
  boolean isTaken(Message atomic) {
    return taken[bucket(atomic)];
  }

  boolean mayPark() {
    return parked < parkedMax;
  }

  void take(Message atomic) {
    taken[bucket(atomic)] = true;
  }

  void park(Message atomic) {
    int bucket = bucket(atomic);
    Message before = last[bucket];
    if (before == null) {
      first[bucket] = atomic;
    } else {
      before.next = atomic;
    }
    atomic.next = null;
    last[bucket] = atomic;
    parked++;
  }

  /** Gives an atomic's bucket to the next one, which is returned, if there is one. */
  @Nullable Message passOn(Message atomic) {
    int bucket = bucket(atomic);
    Message next = first[bucket];
    if (next == null) {
      taken[bucket] = false;
      return null;
    }
    parked--;
    first[bucket] = next.next;
    if (next.next == null) {
      last[bucket] = null;
    }
    return next;
  }

  /** Returns when an atomic on the card's own memory takes effect. */
  long onChipEffect(long word, long ready, long conflict) {
    int index = (int) (word / Long.BYTES) & (wordFreeAt.length - 1);
    long effect = Math.max(ready, wordFreeAt[index]);
    wordFreeAt[index] = effect + conflict;
    return effect;
  }

  private int bucket(Message atomic) {
    return (int) atomic.remote & bucketMask;
  }
}
