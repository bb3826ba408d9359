package pando.index.dex.cache;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.MemoryServerLostException;
import pando.fabric.Worker;
import pando.index.dex.node.NodeLayout;

/**
 * One worker's share of a {@link NodeCache}: its free frames, its scratch memory for nodes that are
 * not admitted, its I/O flag, and its counters. Used by one thread.
 */
public final class CacheContext {
  /** Number of scratch nodes: room for nodes outside the frames. */
  public static final int SCRATCH_NODES = 4;

  /** Number of places for keys outside nodes, which are the caller's. */
  public static final int KEYS = 16;

  /** Place of a key that the cache uses by itself. */
  static final int OWN_KEY = KEYS;

  /** Maximum number of free frames that a context keeps to itself. */
  static final int KEPT_MAX = 8;

  /** Number of an I/O flag: the context has none. */
  static final int NO_ENTRY = -1;

  private final int number;
  int entry;
  final Worker worker;
  final Backoff backoff;
  final RandomGenerator random;
  private final long scratch;
  private final NodeLayout layout;
  private final int[] kept = new int[KEPT_MAX];
  private int keptCount;

  /** Whether it makes room for a frame to take. */
  boolean needsFrame;

  /** The failure that kept nodes from being written back in the last search for a frame, if any. */
  @Nullable MemoryServerLostException lost;

  /** Nodes taken into the cache. */
  public long admissions;

  /** Nodes picked as candidates for eviction. */
  public long coolings;

  /** Cooling nodes that were accessed again before they were evicted. */
  public long secondChances;

  /** Nodes dropped to make room. */
  public long evictions;

  /** Dirty nodes written to the pool. */
  public long writeBacks;

  CacheContext(Worker worker, int number, int entry, long scratch, NodeLayout layout) {
    this.number = number;
    this.worker = worker;
    this.backoff = worker.backoff();
    this.random = worker.random();
    this.entry = entry;
    this.scratch = scratch;
    this.layout = layout;
  }

  /** Returns the context's number among those of its cache, from 0. */
  public int number() {
    return number;
  }

  /** Returns the worker. */
  public Worker worker() {
    return worker;
  }

  /** Returns the offset of a scratch node. */
  public long scratchNode(int index) {
    return scratch + layout.offset(index);
  }

  /** Returns the offset of the buffer for the message of a CALL. */
  public long message() {
    return scratchNode(SCRATCH_NODES);
  }

  /** Returns a place for a key outside nodes, by its number from 0 to {@link #KEYS} - 1. */
  public long key(int place) {
    return message() + Worker.CALL_BYTES_MAX + (long) place * layout.keyBytes();
  }

  boolean keepsAny() {
    return keptCount > 0;
  }

  int kept() {
    return keptCount;
  }

  int unkeep() {
    return kept[--keptCount];
  }

  void keep(int frame) {
    kept[keptCount++] = frame;
  }
}
