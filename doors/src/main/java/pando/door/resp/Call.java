package pando.door.resp;

import java.lang.foreign.MemorySegment;

/** What a client asks for: a request, which commands read, and where they write the reply. */
final class Call {
  final Client client;
  final Request request;
  final Door door;
  final Keyspace keyspace;
  final Store store;
  final Replies replies;
  private final byte[] number;
  private final MemorySegment numberBytes;

  Call(Lane lane, Client client, Request request) {
    this.client = client;
    this.request = request;
    this.door = lane.door;
    this.store = lane.store;
    this.keyspace = store.keyspace();
    this.replies = lane.replies;
    this.number = lane.number;
    this.numberBytes = MemorySegment.ofArray(number);
  }

  /**
   * Returns an argument as a key of the client's database.
   *
   * @throws Refusal if it is too long
   */
  MemorySegment key(int i) {
    checkLength("key", request.length(i), keyspace.keyBytesMax());
    return keyspace.key(request, i, client.database);
  }

  /**
   * Returns an argument as a string that is stored.
   *
   * @throws Refusal if it is too long
   */
  MemorySegment string(int i) {
    checkLength("value", request.length(i), keyspace.stringBytesMax());
    return keyspace.string(request, i);
  }

  /**
   * Checks the length of what a client gave.
   *
   * @throws Refusal if it is above the maximum
   */
  static void checkLength(String what, int bytes, int maximum) {
    if (bytes > maximum) {
      throw new Refusal(
          "ERR the " + what + " is too long: bytes=" + bytes + ", maximum=" + maximum);
    }
  }

  /** Returns a number as a string that is stored, until the next one. */
  MemorySegment string(long stored) {
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
    replies.bulkBehind(store.value(), keyspace.markBytes);
  }

  /** Adds whether something is so, as 1 or 0. */
  void reply(boolean is) {
    replies.integer(is ? 1 : 0);
  }
}
