package pando.index.orca;

import pando.index.orca.leaf.LeafLayout;
import pando.index.session.Failures;

/**
 * The leaves that one merge, or a load, is to write, in the order of their keys: for each its
 * records, as indexes of the caller's arrays, its fences, and, once allocated, its place.
 */
final class Pieces {
  final int[] from;
  final int[] records;
  final int[] segments;
  final long[] low;
  final long[] high;
  final long[] address;
  final long[] stamp;
  final int[] entry;
  int count;

  /** Generation of their slots. */
  int generation;

  private int allocated;

  Pieces(int max) {
    from = new int[max];
    records = new int[max];
    segments = new int[max];
    low = new long[max];
    high = new long[max];
    address = new long[max];
    stamp = new long[max];
    entry = new int[max];
  }

  /** Forgets all pieces; frees nothing. */
  void clear() {
    count = 0;
    generation = 0;
    allocated = 0;
  }

  /**
   * Adds a piece.
   *
   * @param first index of its first record
   * @param number of records, 0 or more
   * @param lowFence least key that it covers
   * @param highFence greatest key that it covers
   * @param segmentsNeeded number of its segments
   */
  void add(int first, int number, long lowFence, long highFence, int segmentsNeeded) {
    from[count] = first;
    records[count] = number;
    low[count] = lowFence;
    high[count] = highFence;
    segments[count++] = segmentsNeeded;
  }

  /**
   * Allocates the place of a piece, on the next memory server in turn, and draws its stamp. Pieces
   * are allocated in their order.
   *
   * @throws pando.fabric.PoolFullException if no memory server has room
   */
  void allocate(int piece, OrcaContext context) {
    LeafSpace space = context.space;
    address[piece] =
        space
            .of(low[piece])
            .allocate(
                context.worker,
                context.message,
                space.nextMemoryServer(),
                LeafLayout.units(segments[piece]),
                1);
    allocated = piece + 1;
    stamp[piece] = space.nextStamp();
  }

  /** Frees the places of all pieces, after a failure; collects others. */
  void free(OrcaContext context, Failures failures) {
    for (int i = 0; i < allocated; i++) {
      int piece = i;
      failures.collect(() -> free(piece, context));
    }
    allocated = 0;
  }

  private void free(int piece, OrcaContext context) {
    context.space.free(
        context.worker, context.message, address[piece], LeafLayout.units(segments[piece]));
  }
}
