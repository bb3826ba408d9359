package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a client asks for: a request, which commands read, and where they write the reply. */
final class RespCall {
  final RespLane lane;
  final RespClient client;

  /** Another one for each request of a connection. */
  RespRequest request;

  final Door door;
  final Keyspace keyspace;
  final Store store;
  final Replies replies;
  private final LaneCounters counters;
  private final byte[] number;
  private final MemorySegment numberBytes;

  RespCall(RespLane lane, RespClient client, RespRequest request) {
    this.lane = lane;
    this.client = client;
    this.request = request;
    this.door = lane.door;
    this.store = lane.store;
    this.keyspace = store.keyspace();
    this.replies = lane.replies;
    this.counters = lane.counters;
    this.number = lane.number;
    this.numberBytes = MemorySegment.ofArray(number);
  }

  /**
   * Returns an argument as a key of the client's database.
   *
   * @throws Refusal if it is too long
   */
  MemorySegment key(int i) {
    return key(i, client.database);
  }

  /** Returns an argument as a key of a database. */
  MemorySegment key(int i, int database) {
    checkKey(i);
    return keyspace.key(request, i, database);
  }

  /**
   * Returns an argument as a database.
   *
   * @throws Refusal if it is none
   */
  int database(int i) {
    long database = request.integer(i);
    if (database < Integer.MIN_VALUE || database > Integer.MAX_VALUE) {
      throw new Refusal(
          "ERR value is out of range, value must between %s and %s"
              .formatted(Integer.MIN_VALUE, Integer.MAX_VALUE));
    }
    if (database < 0 || database >= keyspace.databases()) {
      throw new Refusal("ERR DB index is out of range");
    }
    return (int) database;
  }

  /**
   * Returns an argument as a string that is stored.
   *
   * @throws Refusal if it is too long
   */
  MemorySegment string(int i) {
    checkString(i);
    return keyspace.string(request, i);
  }

  /**
   * Returns an argument as a string that is stored with a deadline, or {@link Keyspace#NEVER}.
   *
   * @throws Refusal if it is too long
   */
  MemorySegment string(int i, long deadline) {
    checkString(i);
    return keyspace.string(request, i, deadline);
  }

  /** Checks an argument that is a key, as {@link Keyspace#checkKey} does. */
  void checkKey(int i) {
    keyspace.checkKey(request, i);
  }

  /** Checks the length of an argument that is a string. */
  void checkString(int i) {
    checkLength("value", request.length(i), keyspace.stringBytesMax());
  }

  /**
   * Checks the length of what a client gave.
   *
   * @throws Refusal if it is above the maximum
   */
  static void checkLength(String what, long bytes, int maximum) {
    if (bytes > maximum) {
      throw new Refusal(
          "ERR the " + what + " is too long: bytes=" + bytes + ", maximum=" + maximum);
    }
  }

  /**
   * Returns a string that is stored as a number.
   *
   * @throws Refusal if it is none
   */
  long integer(MemorySegment stored) {
    int length = keyspace.payloadBytes(stored);
    if (length > Ascii.INTEGER_BYTES_MAX) {
      throw Refusal.notAnInteger();
    }
    MemorySegment.copy(stored, JAVA_BYTE, keyspace.markBytes, number, 1, length);
    return Ascii.integer(number, 1, length);
  }

  /** Returns a number as a string that is stored without a deadline, until the next one. */
  MemorySegment number(long stored) {
    number[0] = Keyspace.STRING;
    int start = 1 - keyspace.markBytes;
    return numberBytes.asSlice(start, Ascii.put(number, 1, stored) - start);
  }

  /**
   * Returns the keys behind a prefix between two arguments, which are bounds.
   *
   * @throws Refusal if one is none
   */
  LexRange range(byte[] prefix, int least, int greatest) {
    return LexRange.of(prefix, keyspace.strings().keyBytesMax(), request, least, greatest);
  }

  /** Adds the string that was found last. */
  void replyValue() {
    replyValue(store.value());
  }

  /** Adds a string that is stored. */
  void replyValue(MemorySegment stored) {
    replies.bulk(stored, keyspace.markBytes, keyspace.payloadBytes(stored));
  }

  /** Adds a string that a lookup of many has found, {@code null} if it has not. */
  void reply(@Nullable MemorySegment found) {
    if (hit(found != null)) {
      replyValue(found);
    } else {
      replies.nil();
    }
  }

  /** Counts whether a key was found by a command that reads; returns it. */
  boolean hit(boolean found) {
    if (found) {
      counters.hits++;
    } else {
      counters.misses++;
    }
    return found;
  }

  /** Checks the number of arguments of a command of two words. */
  static void checkArity(String name, int count, int wanted) {
    if (count != wanted) {
      throw Refusal.wrongArguments(name);
    }
  }

  /**
   * Returns what a client is told whose second word is none of a command's here.
   *
   * @param refused second words that Redis has
   */
  Refusal unknownSubcommand(String command, String refused, String reason) {
    String word = request.text(1).toUpperCase(Locale.ROOT);
    return List.of(refused.split(" ", -1)).contains(word)
        ? Refusal.notSupported(command + " " + word, reason)
        : new Refusal(
            "ERR unknown subcommand '" + request.shown(1) + "'. Try " + command + " HELP.");
  }

  /** Adds whether something is so, as 1 or 0. */
  void reply(boolean is) {
    replies.integer(is ? 1 : 0);
  }
}
