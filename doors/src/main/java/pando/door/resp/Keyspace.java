package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SequencedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;

/**
 * Where the keys of a door are in byte strings: those of a door that has them for itself, or those
 * of doors and others that share them. Thread-safe.
 */
abstract sealed class Keyspace permits OwnKeyspace, SharedKeyspace {
  /** What is in front of a string, where there are sets, too. */
  static final byte STRING = 0;

  /**
   * Bytes in front of each key, which say its database, and in front of each value, which say its
   * kind: 1, or 0 where keys and values are as clients give them.
   */
  final int markBytes;

  /**
   * Where the keys that clients may give end, {@code null} if they do not. Where keys are as
   * clients give them, named maps may have keys behind; clients neither see nor change these.
   */
  private final byte @Nullable [] end;

  private final ByteStrings strings;
  private volatile boolean stopped;

  Keyspace(ByteStrings strings, int markBytes) {
    this.strings = strings;
    this.markBytes = markBytes;
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

  /** Returns the sizes that are known of what is in this process, by name. */
  abstract SequencedMap<String, Long> sizes();

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
    return strings.valueBytesMax() - markBytes;
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

  /** Returns an argument as a string that is stored; copies nothing. */
  MemorySegment string(RespRequest request, int i) {
    return marked(request, i, STRING);
  }

  private MemorySegment marked(RespRequest request, int i, byte mark) {
    return markBytes == 0 ? request.argument(i) : request.prefixed(i, mark);
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
  boolean isString(MemorySegment value) {
    return markBytes == 0 || value.get(JAVA_BYTE, 0) == STRING;
  }
}
