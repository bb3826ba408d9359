package pando.door.resp;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import pando.door.resp.ReplyBlocks.Block;

/**
 * Replies of a connection that are sent only once the changes behind them are on the disk. Used by
 * the event loop of the connection.
 */
final class UnsafeReplies {
  /** Bytes that are held for replies that go together, beside their own. */
  private static final int HELD_BYTES = 128;

  private final RespLane lane;
  private final Unread unread;
  private final Deque<KeptReply> all = new ArrayDeque<>();
  private long place;

  /**
   * Replies that were kept together.
   *
   * @param few all of them, if they are few
   * @param many where they lie else
   * @param held what they hold of the budget
   */
  @SuppressWarnings("ArrayRecordComponent") // Nobody compares them.
  private record KeptReply(byte[] few, List<Block> many, long held) {}

  UnsafeReplies(RespLane lane, Unread unread) {
    this.lane = lane;
    this.unread = unread;
  }

  boolean isEmpty() {
    return all.isEmpty();
  }

  /** Returns the place in the log before which all must be on the disk. */
  long place() {
    return place;
  }

  /**
   * Keeps all replies of the event loop.
   *
   * @param safe the place in the log before which all must be on the disk
   * @return {@code false} if they cannot be held, and are forgotten
   */
  boolean keep(long safe) {
    Replies replies = lane.replies;
    boolean isSmall = replies.size() <= Unread.REPLIES_SENT;
    long held =
        isSmall ? (long) replies.size() + HELD_BYTES : (long) Block.BYTES * replies.blocks();
    if (!unread.hold(held)) {
      replies.clear();
      return false;
    }
    List<Block> many = isSmall ? List.of() : new ArrayList<>();
    byte[] few = isSmall ? replies.take() : RespReader.NOTHING;
    if (!isSmall) {
      replies.moveTo(many);
    }
    all.add(new KeptReply(few, many, held));
    place = Math.max(place, safe);
    return true;
  }

  /** Gives the event loop the next replies back; returns whether there are any. */
  boolean next() {
    KeptReply kept = all.poll();
    if (kept == null) {
      return false;
    }
    unread.giveBack(kept.held());
    if (kept.many().isEmpty()) {
      lane.replies.moveFrom(kept.few());
    } else {
      lane.replies.moveFrom(kept.many());
    }
    return true;
  }

  void forget() {
    for (KeptReply kept : all) {
      unread.giveBack(kept.held());
      kept.many().forEach(lane.door.blocks()::giveBack);
    }
    all.clear();
  }
}
