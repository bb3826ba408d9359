package pando.door.resp;

import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Memory for replies, in blocks of one length that are used again: a large reply is many of them.
 * So no memory outside of the heap is taken and given back for each reply, for which the JVM stops
 * all threads. Thread-safe.
 */
final class ReplyBlocks {
  private static final int KEPT_MAX = 128;

  private final Queue<Block> kept = new ArrayBlockingQueue<>(KEPT_MAX);

  /** A part of replies. */
  static final class Block {
    static final int BYTES = 128 << 10;

    /** So many bytes are kept free for the head of an array, and for a last error. */
    static final int ROOM = 1024;

    static final int FULL = BYTES - ROOM;

    final byte[] bytes = new byte[BYTES];
    int size;
  }

  /** Returns a block with nothing in it. */
  Block take() {
    Block block = kept.poll();
    return block == null ? new Block() : block;
  }

  /** Forgets the blocks that nobody uses. */
  void clear() {
    kept.clear();
  }

  /** Takes a block back that nobody uses. */
  void giveBack(Block block) {
    block.size = 0;
    boolean _ = kept.offer(block);
  }
}
