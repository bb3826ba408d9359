package pando.door.resp;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayDeque;
import java.util.Deque;
import pando.door.resp.ReplyBlocks.Block;

/**
 * Replies of a connection that its client has not taken. Few bytes are written at once; many are
 * kept in blocks, of which a piece is written whenever the client has taken the one before. What is
 * held counts in the budget of the door.
 *
 * <p>Used by the event loop of the connection.
 */
final class Unread {
  /** Replies of so many bytes are sent before further requests are run. */
  static final int REPLIES_SENT = 64 << 10;

  /** Bytes that are held for replies that are sent together, beside their own. */
  private static final int HELD_BYTES = 512;

  private final RespLane lane;
  private final RespClient client;
  private final Deque<Block> blocks = new ArrayDeque<>();

  /** Bytes of the first block that were written. */
  private int written;

  private boolean ends;
  private boolean running;

  Unread(RespLane lane, RespClient client) {
    this.lane = lane;
    this.client = client;
  }

  /** Returns whether all replies were written, though perhaps not taken. */
  boolean isEmpty() {
    return blocks.isEmpty();
  }

  /**
   * Sends all replies of the event loop.
   *
   * @return {@code false} if they cannot be held, and are forgotten
   */
  boolean send(ChannelHandlerContext to) {
    Replies replies = lane.replies;
    int size = replies.size();
    boolean isSmall = size <= REPLIES_SENT;
    if (isSmall && blocks.isEmpty()) {
      return sendAtOnce(to, size);
    }
    if (isSmall && blocks.getLast().size + size <= Block.FULL) {
      append();
      return true;
    }
    boolean holds = hold((long) Block.BYTES * replies.blocks());
    if (holds) {
      replies.moveTo(blocks);
      goOn(to);
    } else {
      replies.clear();
    }
    return holds;
  }

  private boolean sendAtOnce(ChannelHandlerContext to, int size) {
    long bytes = size + (long) HELD_BYTES;
    boolean isHeld = client.heldBytes > 0;
    if (isHeld && !hold(bytes)) {
      lane.replies.clear();
      return false;
    }
    ChannelFuture sent = writeReplies(to);
    if (!sent.isDone() && !isHeld && !hold(bytes)) {
      close(to); // not even a few bytes are left to hold an error
    } else if (!sent.isDone() || isHeld) {
      sent.addListener(_ -> giveBack(bytes));
    }
    return true;
  }

  /** Sends an error behind all replies, and ends the connection then. */
  void sendLast(ChannelHandlerContext to) {
    if (blocks.isEmpty()) {
      ChannelFuture _ = writeReplies(to);
    } else if (blocks.getLast().size + lane.replies.size() <= Block.BYTES) {
      append();
    }
    end(to);
  }

  private void append() {
    Block last = blocks.getLast();
    int size = lane.replies.size();
    System.arraycopy(lane.replies.bytes(), 0, last.bytes, last.size, size);
    last.size += size;
    lane.replies.clear();
  }

  private ChannelFuture writeReplies(ChannelHandlerContext to) {
    ChannelFuture sent = write(to, lane.replies.bytes(), 0, lane.replies.size());
    lane.replies.clear();
    return sent;
  }

  private ChannelFuture write(ChannelHandlerContext to, byte[] bytes, int from, int length) {
    lane.counters.bytesOut += length;
    return to.writeAndFlush(to.alloc().ioBuffer(length).writeBytes(bytes, from, length));
  }

  /** Writes what the client takes. */
  void goOn(ChannelHandlerContext to) {
    if (running) {
      return; // a write may find that the client takes more
    }
    running = true;
    try {
      while (!blocks.isEmpty() && to.channel().isWritable()) {
        writePiece(to);
      }
    } finally {
      running = false;
    }
    if (ends && blocks.isEmpty()) {
      end(to);
    }
  }

  /** A write may run further requests, whose replies come behind what is in the last block. */
  private void writePiece(ChannelHandlerContext to) {
    Block first = blocks.getFirst();
    int from = written;
    int length = Math.min(first.size - from, REPLIES_SENT);
    written += length;
    ChannelFuture sent = write(to, first.bytes, from, length);
    if (blocks.peekFirst() == first && written == first.size) {
      blocks.removeFirst();
      written = 0;
      lane.door.blocks().giveBack(first);
      sent.addListener(_ -> giveBack(Block.BYTES));
    }
  }

  /** Holds bytes of the budget; returns {@code false} if they are not there. */
  boolean hold(long bytes) {
    boolean holds = lane.door.waiting().tryTakeShare(client.heldBytes, bytes);
    client.heldBytes += holds ? bytes : 0;
    return holds;
  }

  void giveBack(long bytes) {
    client.heldBytes -= bytes;
    lane.door.waiting().giveBack(bytes);
  }

  /** Ends the connection once the client has taken all replies. */
  void end(ChannelHandlerContext to) {
    ends = !blocks.isEmpty();
    if (!ends) {
      to.writeAndFlush(to.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
    }
  }

  /** Forgets what was not written; the connection has ended. */
  void forget() {
    written = 0;
    while (!blocks.isEmpty()) {
      lane.door.blocks().giveBack(blocks.removeFirst());
      giveBack(Block.BYTES);
    }
  }

  private static void close(ChannelHandlerContext its) {
    ChannelFuture _ = its.close();
  }
}
