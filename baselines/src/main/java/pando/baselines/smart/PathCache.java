package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import pando.fabric.Backoff;
import pando.fabric.memory.Closing;

/**
 * A compute server's cache: copies of inner nodes, found by the longest prefix of a path. Several
 * queues ({@link CachePart}) each hold the copies of some paths; one more holds those near the
 * root, which stay. Copies may be old: what they lead to says by itself what it is. Those of nodes
 * that one compute server alone changes are current ({@link OwnCopies}).
 *
 * <p>Thread-safe.
 */
final class PathCache implements AutoCloseable {
  /** Copies of the largest node that each queue has room for. */
  private static final int NODES_MIN = 4;

  private final int pinnedDepth;
  private final CachePart pinned;
  private final List<CachePart> parts = new ArrayList<>();

  /**
   * Creates an empty cache.
   *
   * @param limit bytes of copies, {@link #bytesMin} at least
   * @param partsMax greatest number of queues, a power of two
   * @param pinnedDepth nodes with a shorter path stay: 0 for none, 1 for the root, 2 for those
   *     below
   */
  PathCache(long limit, int partsMax, int pinnedDepth) {
    this.pinnedDepth = pinnedDepth;
    long stay = pinnedBytes(pinnedDepth);
    long rest = limit - stay;
    int count = 1;
    while (2 * count <= partsMax
        && rest / (2L * count) >= (long) NODES_MIN * NodeLayout.BYTES_MAX) {
      count *= 2;
    }
    this.pinned = new CachePart(Math.max(stay, NodeLayout.BYTES_MAX));
    try {
      for (int i = 0; i < count; i++) {
        parts.add(new CachePart(rest / count));
      }
    } catch (Throwable e) {
      Closing.after(e, this::close);
      throw e;
    }
  }

  private static long pinnedBytes(int pinnedDepth) {
    long nodes = pinnedDepth == 0 ? 0 : pinnedDepth == 1 ? 2 : 300;
    return nodes * NodeLayout.BYTES_MAX;
  }

  /** Returns the least size of a cache, in bytes. */
  static long bytesMin(int pinnedDepth) {
    return pinnedBytes(pinnedDepth) + (long) NODES_MIN * NodeLayout.BYTES_MAX;
  }

  /** Returns the bytes of all copies. */
  long bytes() {
    return pinned.bytes() + parts.stream().mapToLong(CachePart::bytes).sum();
  }

  /**
   * Searches the copy with the longest prefix of a path.
   *
   * @param below only prefixes of fewer bytes count
   * @param into receives the copy
   */
  boolean find(long path, int below, Copy into, Backoff backoff) {
    for (int depth = Math.min(below, KeyPath.BYTES) - 1; depth >= 0; depth--) {
      CachePart part = part(KeyPath.prefix(path, depth), depth);
      if (part.bytes() > 0 && part.find(path, depth, into, backoff)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Holds a copy of a node that was READ, if a condition holds while no other change of the node's
   * part of the cache is under way.
   */
  void admit(
      MemorySegment from, long image, long address, Backoff backoff, BooleanSupplier condition) {
    long header = NodeLayout.header(from, image);
    part(NodeLayout.prefix(header), NodeLayout.depth(header))
        .admit(from, image, address, backoff, condition);
  }

  /** Copies a copy into local memory; returns whether it is still there. */
  boolean copy(Copy copy, MemorySegment into, long image, Backoff backoff) {
    long prefix = NodeLayout.prefix(copy.header);
    int depth = copy.depth();
    return part(prefix, depth).copy(prefix, depth, copy.id, into, image, backoff);
  }

  /** Drops a copy, if no other one has taken its place. */
  void drop(Copy copy, Backoff backoff) {
    long prefix = NodeLayout.prefix(copy.header);
    part(prefix, copy.depth()).drop(prefix, copy.depth(), copy.id, backoff);
  }

  /** Drops the copy of a node that was READ, if no other one has taken its place. */
  void drop(MemorySegment from, long image, Backoff backoff) {
    long header = NodeLayout.header(from, image);
    long prefix = NodeLayout.prefix(header);
    int depth = NodeLayout.depth(header);
    part(prefix, depth).drop(prefix, depth, NodeLayout.id(from, image), backoff);
  }

  /** Drops all copies. */
  void clear(Backoff backoff) {
    pinned.clear(backoff);
    parts.forEach(part -> part.clear(backoff));
  }

  private CachePart part(long prefix, int depth) {
    if (depth < pinnedDepth) {
      return pinned;
    }
    int number = (int) (hash(prefix, depth) >>> 48) & (parts.size() - 1);
    return parts.get(number);
  }

  static long hash(long prefix, int depth) {
    return KeyPath.mix((prefix + depth) * 0x9E37_79B9_7F4A_7C15L);
  }

  @Override
  public void close() {
    List<Runnable> all = new ArrayList<>();
    all.add(pinned::close);
    parts.forEach(part -> all.add(part::close));
    Closing.all(all);
  }
}
