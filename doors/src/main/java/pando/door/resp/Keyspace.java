package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SequencedMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;

/**
 * Where the keys of a door are in byte strings: those of a door that has them for itself, or those
 * of doors and others that share them. Thread-safe.
 */
abstract sealed class Keyspace permits OwnKeyspace, SharedKeyspace {
  /** What is in front of a string without a deadline, where there are sets, too. */
  static final byte STRING = 0;

  /** The deadline of a value that has none. */
  static final long NEVER = 0;

  /**
   * Bytes in front of each key, which say its database, and in front of each value, which say its
   * kind: 1, or 0 where keys and values begin as clients give them.
   */
  final int markBytes;

  /**
   * Where the keys that clients may give end, {@code null} if they do not. Where keys are as
   * clients give them, named maps may have keys behind; clients neither see nor change these.
   */
  private final byte @Nullable [] end;

  private final ByteStrings strings;
  private final int trailerBytes;
  private final DoorClock clock;
  private final LongAdder expired = new LongAdder();
  private volatile boolean stopped;

  /**
   * Makes the keyspace of a door.
   *
   * @param trailerBytes bytes behind a value that has a deadline
   * @param clock returns milliseconds since 1970
   */
  Keyspace(ByteStrings strings, int markBytes, int trailerBytes, LongSupplier clock) {
    this.strings = strings;
    this.markBytes = markBytes;
    this.trailerBytes = trailerBytes;
    this.clock = new DoorClock(clock);
    byte[] reserved = KeyBounds.reserved().toArray(JAVA_BYTE);
    boolean hasReserved = markBytes == 0 && strings.keyBytesMax() >= reserved.length;
    this.end = hasReserved ? reserved : null;
  }

  /** Returns the number of databases. */
  abstract int databases();

  /**
   * Returns whether the door has the keys for itself: then they may have sets, and there are
   * transactions; else all have strings.
   */
  abstract boolean isOwn();

  /**
   * Returns whether lookups, and stores, of many strings go together: over a network, where each
   * would take a round trip.
   */
  abstract boolean goesTogether();

  /**
   * Returns another event loop's way to the keys.
   *
   * @param later runs tasks in the background
   */
  abstract Store newStore(Consumer<Consumer<Store>> later);

  /** Returns how many keys each database has; nothing, if they are not counted. */
  abstract long[] counts();

  /** Returns how many of them have a deadline. */
  abstract long[] timedCounts();

  /** Returns the sizes that are known of what is in this process, by name. */
  abstract SequencedMap<String, Long> sizes();

  /** Returns what the entries of {@link Times} begin with. */
  abstract byte[] timesMark();

  /** Opens a session for {@link Times}. */
  abstract ByteSession timesSession();

  /** Returns whether there may be keys with a deadline. */
  abstract boolean mayHaveTimes();

  /** Takes note of a change of a key, by whether it had a deadline before and has one now. */
  abstract void timed(MemorySegment key, boolean before, boolean now);

  /** Takes note of a key that has expired, and is gone. */
  void expired() {
    expired.increment();
  }

  /** Returns how many keys have expired, and are gone by this door. */
  long expiredCount() {
    return expired.sum();
  }

  /** Returns the clock by which keys expire. */
  DoorClock clock() {
    return clock;
  }

  ByteStrings strings() {
    return strings;
  }

  /** Ends requests that take long. */
  void stop() {
    stopped = true;
  }

  /**
   * Checks that a request that takes long may go on.
   *
   * @throws Refusal if it is to end
   */
  void checkGoesOn() {
    if (stopped) {
      throw new HalfWay("ERR the door closes, and the request was not carried out to its end");
    }
  }

  /** Returns the greatest length of a key, as clients give it. */
  int keyBytesMax() {
    return strings.keyBytesMax() - markBytes;
  }

  /** Returns the greatest length of a string, as clients give it. */
  int stringBytesMax() {
    return strings.valueBytesMax() - markBytes - trailerBytes;
  }

  /**
   * Checks an argument that is a key.
   *
   * @throws Refusal if a named map may have it, or if it is too long
   */
  void checkKey(RespRequest request, int i) {
    RespCall.checkLength("key", request.length(i), keyBytesMax());
    if (isReserved(request, i)) {
      throw new Refusal("ERR keys that begin with nine bytes 0xFF belong to named maps");
    }
  }

  /** Returns whether an argument is a key that a named map may have. */
  private boolean isReserved(RespRequest request, int i) {
    byte @Nullable [] first = end;
    int start = request.start(i);
    return first != null
        && request.length(i) >= first.length
        && Arrays.equals(first, 0, first.length, request.bytes(), start, start + first.length);
  }

  /** Returns whether an argument is a key that clients may give. */
  boolean isKey(RespRequest request, int i) {
    return request.length(i) <= keyBytesMax() && !isReserved(request, i);
  }

  /** Returns the end of a range, or that of all keys if it comes before. */
  byte @Nullable [] endOf(byte @Nullable [] to) {
    boolean ends = to != null && (end == null || Arrays.compareUnsigned(to, end) < 0);
    return ends ? to : end;
  }

  /** Returns an argument as a key; copies nothing. */
  MemorySegment key(RespRequest request, int i, int database) {
    return marked(request, i, (byte) database);
  }

  private MemorySegment marked(RespRequest request, int i, byte mark) {
    return markBytes == 0 ? request.argument(i) : request.prefixed(i, mark);
  }

  /** Returns an argument as a string that is stored without a deadline; mostly copies nothing. */
  MemorySegment string(RespRequest request, int i) {
    return marked(request, i, STRING);
  }

  /** Returns an argument as a string that is stored with a deadline, or {@link #NEVER}. */
  final MemorySegment string(RespRequest request, int i, long deadline) {
    MemorySegment string = string(request, i);
    return deadline == NEVER ? string : withDeadline(string, deadline);
  }

  /**
   * Returns room for a string that is going to be stored. The bytes that clients see come behind
   * {@link #markBytes}; {@link #stored} makes a string of the room then.
   */
  final byte[] room(long payloadBytes, long deadline) {
    int more = markBytes + (deadline == NEVER ? 0 : trailerBytes);
    return new byte[Math.toIntExact(payloadBytes + more)];
  }

  /** Returns the value that is stored of one that lies in {@link #room} of the same deadline. */
  abstract MemorySegment stored(byte[] room, long deadline);

  /**
   * Returns a copy of a stored value with another deadline, or {@link #NEVER}.
   *
   * @throws Refusal if it is too long to have one
   */
  final MemorySegment withDeadline(MemorySegment stored, long deadline) {
    int bytes = payloadBytes(stored);
    RespCall.checkLength("value", bytes, stringBytesMax());
    byte[] room = room(bytes, deadline);
    MemorySegment.copy(stored, JAVA_BYTE, 0, room, 0, markBytes + bytes);
    return stored(room, deadline);
  }

  /** Returns when a stored value expires, in milliseconds since 1970, or {@link #NEVER}. */
  abstract long deadline(MemorySegment stored);

  /** Returns the number of bytes behind those that clients see of a stored value. */
  abstract int trailerBytes(MemorySegment stored);

  /** Returns how many bytes clients see of a stored value: those behind {@link #markBytes}. */
  final int payloadBytes(MemorySegment stored) {
    return (int) stored.byteSize() - markBytes - trailerBytes(stored);
  }

  /** Returns what clients see of a stored value. */
  final MemorySegment payload(MemorySegment stored) {
    return stored.asSlice(markBytes, payloadBytes(stored));
  }

  /** Returns what all keys of a database begin with. */
  byte[] prefix(int database) {
    return markBytes == 0 ? new byte[0] : new byte[] {(byte) database};
  }

  /** Returns whether a key that was found is in a database. */
  boolean isIn(int database, MemorySegment key) {
    return markBytes == 0 ? !KeyBounds.isReserved(key) : key.get(JAVA_BYTE, 0) == database;
  }

  /** Returns whether a value that was found is a string. */
  abstract boolean isString(MemorySegment value);
}
