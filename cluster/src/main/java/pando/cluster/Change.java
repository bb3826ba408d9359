package pando.cluster;

import pando.index.BoundKey;
import pando.index.Partitioning;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteIndex;

/**
 * A change of who serves what: asked for, then under way, then done, or failed. The leader plans
 * it, and one compute server executes it: the giver of the range, or the heir of one that is lost.
 * The methods that return one throw {@link IllegalArgumentException} for a number that no compute
 * server can have.
 *
 * @param id its number, from 1
 * @param server the compute server that it is about: whose boundary is moved, that is split, added,
 *     removed or fenced
 * @param key of a move or a split
 * @param lostEpoch of a fence because of a loss, the epoch that was lost; else 0
 * @param other the receiver of a split, the giver of what is added; {@value #NONE} if the leader
 *     chooses
 * @param executor the compute server that executes it, {@value #NONE} if none is chosen yet
 * @param executorEpoch its epoch
 * @param leastEpoch of a fence, the least epoch that is not refused
 * @param low of a move that is planned, where the range began before; byte strings do not use it
 * @param why it failed, or a fence that is under way could not be made yet; else empty
 */
public record Change(
    int id,
    Kind kind,
    State state,
    int server,
    BoundKey key,
    long lostEpoch,
    int other,
    int executor,
    long executorEpoch,
    long leastEpoch,
    long low,
    String why) {
  /** No compute server. */
  public static final int NONE = -1;

  static final char KIND = 'x';

  private static final BoundKey NO_KEY = BoundKey.of(0);

  /** What is changed. */
  public enum Kind {
    /** The boundary below a compute server's range moves to a key. */
    MOVE,
    /** The upper part of a compute server's range goes to one without a range. */
    SPLIT,
    /**
     * A compute server without a range gets a part of another's, of the largest if none is named.
     */
    ADD,
    /** A compute server's range goes to a neighbour; the compute server ends. */
    REMOVE,
    /** A compute server is kept from doing anything, and its range goes to a neighbour. */
    FENCE
  }

  /** How far it is. */
  public enum State {
    /** Nobody has begun. */
    ASKED,
    /** The leader has begun. */
    UNDER_WAY,
    /** It is made. */
    DONE,
    /** It is not made, and will not be. */
    FAILED
  }

  private static Change asked(Kind kind, int server, int other) {
    return asked(kind, server, NO_KEY, 0, other);
  }

  private static Change asked(Kind kind, int server, BoundKey key, long lostEpoch, int other) {
    if (server < 0
        || server > Member.NUMBER_MAX
        || other < NONE
        || other > Member.NUMBER_MAX
        || server == other) {
      throw new IllegalArgumentException(
          "no such compute servers: kind=%s, server=%s, other=%s, maximum=%s"
              .formatted(kind, server, other, Member.NUMBER_MAX));
    }
    if (key.isString()) {
      ByteArguments.checkKey(key.string(), ByteIndex.KEY_BYTES_MAX);
    }
    return new Change(0, kind, State.ASKED, server, key, lostEpoch, other, NONE, 0, 0, 0, "");
  }

  /** Returns a change that moves the boundary between a compute server's range and that below. */
  public static Change move(int server, BoundKey key) {
    return asked(Kind.MOVE, server, key, 0, NONE);
  }

  /** As {@link #move(int, BoundKey)}, in an index of words. */
  public static Change move(int server, long key) {
    return move(server, BoundKey.of(key));
  }

  /** Returns a change that gives what a compute server has from a key on to one without a range. */
  public static Change split(int server, BoundKey key, int receiver) {
    return asked(Kind.SPLIT, server, key, 0, receiver);
  }

  /** As {@link #split(int, BoundKey, int)}, in an index of words. */
  public static Change split(int server, long key, int receiver) {
    return split(server, BoundKey.of(key), receiver);
  }

  /** Returns a change that gives a range to a compute server without one. */
  public static Change add(int server) {
    return asked(Kind.ADD, server, NONE);
  }

  /** Returns a change that gives a part of a compute server's range to one without a range. */
  public static Change add(int server, int giver) {
    return asked(Kind.ADD, server, giver);
  }

  /** Returns a change that takes a compute server's range and ends it. */
  public static Change remove(int server) {
    return asked(Kind.REMOVE, server, NONE);
  }

  /** Returns a change that keeps a compute server from doing anything. */
  public static Change fence(int server) {
    return asked(Kind.FENCE, server, NONE);
  }

  /** Returns a fence of a compute server that does not run any more, unless it starts anew. */
  static Change lost(int server, long epoch) {
    return asked(Kind.FENCE, server, NO_KEY, epoch, NONE);
  }

  /** Returns whether it keeps a compute server out. */
  public boolean isFence() {
    return kind == Kind.FENCE;
  }

  /** Returns whether it is a fence that has begun, and is not over. */
  boolean isFenceUnderWay() {
    return isFence() && state == State.UNDER_WAY;
  }

  /** Returns whether nothing is left to do. */
  public boolean isOver() {
    return state == State.DONE || state == State.FAILED;
  }

  /** Returns whether a partition table has what it asks for, once it is planned. */
  boolean isIn(Partitioning table) {
    return switch (kind) {
      case MOVE -> table.hasServer(server) && hasMoved(table, table.rangeOfServer(server));
      case SPLIT -> table.hasServer(other);
      case ADD -> table.hasServer(server);
      case REMOVE, FENCE -> !table.hasServer(server);
    };
  }

  /**
   * Returns whether a range begins where this move asks, or close by. Byte strings are cut at the
   * key. A boundary of words is a fence between leaves: it may lie below the key, but not at or
   * below where it was, if the key is above that.
   */
  private boolean hasMoved(Partitioning table, int range) {
    int place = key.compareToBound(table, range);
    if (key.isString()) {
      return place == 0;
    }
    return place >= 0 && (key.number() <= low || table.lowOfRange(range) > low);
  }

  /** Returns whether its key is a number where the table has byte strings, or the reverse. */
  boolean hasOtherKeys(Partitioning table) {
    return (kind == Kind.MOVE || kind == Kind.SPLIT) && key.isString() != table.hasFences();
  }

  /** Returns whether it is under way, and a compute server of an epoch executes it. */
  public boolean isExecutedBy(int number, long epoch) {
    return state == State.UNDER_WAY && executor == number && executorEpoch == epoch;
  }

  Change withId(int given) {
    return new Change(
        given,
        kind,
        state,
        server,
        key,
        lostEpoch,
        other,
        executor,
        executorEpoch,
        leastEpoch,
        low,
        why);
  }

  Change executedBy(Member member) {
    return new Change(
        id,
        kind,
        State.UNDER_WAY,
        server,
        key,
        lostEpoch,
        other,
        member.number(),
        member.epoch(),
        leastEpoch,
        low,
        "");
  }

  /** Returns this move, of a range that begins at a key before. */
  Change movedFrom(long before) {
    return new Change(
        id,
        kind,
        state,
        server,
        key,
        lostEpoch,
        other,
        executor,
        executorEpoch,
        leastEpoch,
        before,
        why);
  }

  /** Returns this fence under way, which refuses all epochs below one. */
  Change fencing(long epoch) {
    return new Change(
        id, kind, State.UNDER_WAY, server, key, lostEpoch, other, NONE, 0, epoch, low, "");
  }

  Change askedAgain() {
    return asked(kind, server, key, lostEpoch, other).withId(id);
  }

  Change done() {
    return with(State.DONE, "");
  }

  Change failed(String because) {
    return with(State.FAILED, because);
  }

  /** Returns this change as it is, with the reason why it could not be made yet. */
  Change waiting(String because) {
    return with(state, because);
  }

  private Change with(State now, String because) {
    int length = Math.min(because.length(), EntryWriter.TEXT_BYTES_MAX / 4);
    return new Change(
        id,
        kind,
        now,
        server,
        key,
        lostEpoch,
        other,
        executor,
        executorEpoch,
        leastEpoch,
        low,
        because.substring(0, length));
  }

  byte[] encode() {
    return new EntryWriter(KIND)
        .number(id)
        .text(kind.name())
        .text(state.name())
        .number(server)
        .word(lostEpoch)
        .number(other)
        .number(executor)
        .word(executorEpoch)
        .word(leastEpoch)
        .word(low)
        .text(why)
        .key(key)
        .bytes();
  }

  static Change decode(byte[] bytes) {
    return EntryReader.read(bytes, KIND, Change::read);
  }

  private static Change read(EntryReader reader) {
    int id = reader.number(1, Integer.MAX_VALUE);
    Kind kind = Kind.valueOf(reader.text());
    State state = State.valueOf(reader.text());
    int server = reader.number(0, Member.NUMBER_MAX);
    long lostEpoch = reader.word();
    int other = reader.number(NONE, Member.NUMBER_MAX);
    int executor = reader.number(NONE, Member.NUMBER_MAX);
    long executorEpoch = reader.word();
    long leastEpoch = reader.word();
    long low = reader.word();
    String why = reader.text();
    return new Change(
        id,
        kind,
        state,
        server,
        reader.key(),
        lostEpoch,
        other,
        executor,
        executorEpoch,
        leastEpoch,
        low,
        why);
  }
}
