package pando.door.resp;

import java.lang.foreign.MemorySegment;

/** What a client asks for: a request, which commands read, and where they write the reply. */
final class Call {
  final Client client;
  final Request request;
  final Door door;
  final Store store;
  final Sets sets;
  final Replies replies;
  private final byte[] number;
  private final MemorySegment numberBytes;

  Call(Lane lane, Client client, Request request) {
    this.client = client;
    this.request = request;
    this.door = lane.door;
    this.store = lane.store;
    this.sets = lane.sets;
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
    if (request.length(i) > Keyspace.KEY_BYTES_MAX) {
      throw new Refusal(
          "ERR the key is too long: bytes="
              + request.length(i)
              + ", maximum="
              + Keyspace.KEY_BYTES_MAX);
    }
    return request.prefixed(i, (byte) client.database);
  }

  /** Returns an argument as a string that is stored. */
  MemorySegment string(int i) {
    return request.prefixed(i, Keyspace.STRING);
  }

  /** Returns a number as a string that is stored, until the next one. */
  MemorySegment string(long stored) {
    number[0] = Keyspace.STRING;
    return numberBytes.asSlice(0, Ascii.put(number, 1, stored));
  }

  /** Adds the string that was found last. */
  void replyValue() {
    replies.bulkBehind(store.value(), 1);
  }

  /** Adds whether something is so, as 1 or 0. */
  void reply(boolean is) {
    replies.integer(is ? 1 : 0);
  }
}
