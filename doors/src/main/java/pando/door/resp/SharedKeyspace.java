package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;

/**
 * The keys of a door to byte strings that others change at the same time. There is one database,
 * and keys and values are as clients give them, so others see the same entries, and the ranges of a
 * cluster divide them at any key. Nothing is counted. Only a value with a deadline has a trailer:
 *
 * <pre>
 * key                              value
 * key                              string                            a string
 * key                              string | deadline 8 | magic 16    a string that expires
 * key                              string | 0 (8)      | magic 16    a string that ends as if it expired
 * FF x 9 | FF | deadline 8 | key   nothing                           see {@link Times}
 * </pre>
 *
 * <p>A deadline is in milliseconds since 1970. It lies with the value, so one change of the key
 * changes both. The magic is 16 random bytes, the same for all doors. A client may give a string
 * that ends as if it had a trailer: it gets one without a deadline, and comes back as it was given.
 *
 * <p>Each door has a clock of its own, so the clocks of machines must agree.
 */
final class SharedKeyspace extends Keyspace {
  private static final long MAGIC_FRONT = 0xC7_5E_91_0B_3D_F6_48_A2L;
  private static final long MAGIC_BACK = 0x1E_B9_D4_63_8F_20_7A_E5L;

  /** What is behind a string that has a deadline. */
  private static final int TRAILER_BYTES = 3 * Long.BYTES;

  SharedKeyspace(ByteStrings strings) {
    this(strings, System::currentTimeMillis);
  }

  SharedKeyspace(ByteStrings strings, LongSupplier clock) {
    super(strings, 0, TRAILER_BYTES, clock);
  }

  @Override
  int databases() {
    return 1;
  }

  @Override
  boolean isOwn() {
    return false;
  }

  @Override
  boolean goesTogether() {
    return strings().isRemote();
  }

  @Override
  Store newStore(Consumer<Consumer<Store>> later) {
    return new Store(this, later);
  }

  @Override
  long[] counts() {
    return new long[0];
  }

  @Override
  long[] timedCounts() {
    return new long[0];
  }

  @Override
  void timed(MemorySegment key, boolean before, boolean now) {}

  /** Other doors may have stored some, too. */
  @Override
  boolean mayHaveTimes() {
    return strings().keyBytesMax() > timesMark().length + Long.BYTES;
  }

  /** {@inheritDoc} No number of a named map begins with this. */
  @Override
  byte[] timesMark() {
    byte[] reserved = KeyBounds.reserved().toArray(JAVA_BYTE);
    byte[] mark = Arrays.copyOf(reserved, reserved.length + 1);
    mark[reserved.length] = -1;
    return mark;
  }

  @Override
  ByteSession timesSession() {
    return strings().session();
  }

  @Override
  SequencedMap<String, Long> sizes() {
    return new LinkedHashMap<>();
  }

  @Override
  boolean isString(MemorySegment value) {
    return true;
  }

  @Override
  MemorySegment string(RespRequest request, int i) {
    return untimed(super.string(request, i));
  }

  /** Returns what is stored of a string without a deadline: mostly the string itself. */
  private static MemorySegment untimed(MemorySegment string) {
    if (!hasTrailer(string)) {
      return string;
    }
    int bytes = (int) string.byteSize();
    byte[] room = new byte[bytes + TRAILER_BYTES];
    MemorySegment.copy(string, JAVA_BYTE, 0, room, 0, bytes);
    return withTrailer(room, NEVER);
  }

  private static MemorySegment withTrailer(byte[] room, long deadline) {
    MemorySegment stored = MemorySegment.ofArray(room);
    stored.set(ByteStrings.WORD, room.length - 3L * Long.BYTES, deadline);
    stored.set(ByteStrings.WORD, room.length - 2L * Long.BYTES, MAGIC_FRONT);
    stored.set(ByteStrings.WORD, room.length - (long) Long.BYTES, MAGIC_BACK);
    return stored;
  }

  @Override
  MemorySegment stored(byte[] room, long deadline) {
    return deadline == NEVER ? untimed(MemorySegment.ofArray(room)) : withTrailer(room, deadline);
  }

  private static boolean hasTrailer(MemorySegment stored) {
    long length = stored.byteSize();
    return length >= TRAILER_BYTES
        && Stored.big(stored, length - Long.BYTES) == MAGIC_BACK
        && Stored.big(stored, length - 2 * Long.BYTES) == MAGIC_FRONT;
  }

  @Override
  long deadline(MemorySegment stored) {
    return hasTrailer(stored)
        ? Math.max(Stored.big(stored, stored.byteSize() - TRAILER_BYTES), NEVER)
        : NEVER;
  }

  @Override
  int trailerBytes(MemorySegment stored) {
    return hasTrailer(stored) ? TRAILER_BYTES : 0;
  }
}
