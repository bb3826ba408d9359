package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.KeyBounds;

/** Bytes of keys and values as {@link OwnKeyspace} draws them. */
final class Stored {
  private static final ValueLayout.OfLong BIG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfDouble BIG_DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int SCORE_AT = 1;
  private static final int SET_AT = SCORE_AT + Double.BYTES;
  private static final int SET_BYTES = SET_AT + Long.BYTES;

  private Stored() {}

  /** Returns whether a door may have stored a value of a key. */
  static boolean isValue(MemorySegment value) {
    long length = value.byteSize();
    byte kind = length == 0 ? -1 : value.get(JAVA_BYTE, 0);
    boolean isTimed = (kind & OwnKeyspace.TIMED) != 0;
    long untimed = isTimed ? length - Long.BYTES : length;
    return (kind & ~(OwnKeyspace.SET | OwnKeyspace.TIMED)) == 0
        && ((kind & OwnKeyspace.SET) == 0 ? untimed > 0 : untimed == SET_BYTES)
        && (!isTimed || big(value, untimed) > Keyspace.NEVER);
  }

  /** Returns whether a door may have stored an entry of {@link Times}. */
  static boolean isTime(MemorySegment key, MemorySegment value) {
    int keyAt = 1 + Long.BYTES;
    return value.byteSize() == 0
        && key.byteSize() > keyAt
        && big(key, 1) > Keyspace.NEVER
        && key.get(JAVA_BYTE, keyAt) >= 0
        && key.get(JAVA_BYTE, keyAt) < OwnKeyspace.DATABASES;
  }

  static long big(MemorySegment bytes, long offset) {
    return bytes.get(BIG, offset);
  }

  static double score(MemorySegment set) {
    return set.get(BIG_DOUBLE, SCORE_AT);
  }

  static long set(MemorySegment set) {
    return set.get(BIG, SET_AT);
  }

  /** Returns the value of a key that is a set. */
  static MemorySegment setValue(double score, long number) {
    MemorySegment value = MemorySegment.ofArray(new byte[SET_BYTES]);
    value.set(JAVA_BYTE, 0, OwnKeyspace.SET);
    value.set(BIG_DOUBLE, SCORE_AT, score);
    value.set(BIG, SET_AT, number);
    return value;
  }

  /** Returns the bytes in front of each member of a set. */
  static byte[] membersOf(int database, long set) {
    byte[] bytes = new byte[OwnKeyspace.MEMBER_AT];
    fillMember(bytes, database, set);
    return bytes;
  }

  /** Fills in what is in front of a member. */
  static void fillMember(byte[] member, int database, long set) {
    member[0] = (byte) (OwnKeyspace.DATABASES + database);
    MemorySegment.ofArray(member).set(BIG, 1, set);
  }

  /** Returns the least string above all that begin with a prefix, {@code null} if there is none. */
  static byte @Nullable [] behindAll(byte[] prefix) {
    int length = prefix.length;
    while (length > 0 && prefix[length - 1] == -1) {
      length--;
    }
    if (length == 0) {
      return null;
    }
    byte[] behind = Arrays.copyOf(prefix, length);
    behind[length - 1]++;
    return behind;
  }

  /**
   * Returns the least string above another one among those of a length at the most, {@code null} if
   * there is none.
   */
  static byte @Nullable [] behind(byte[] string, int bytesMax) {
    MemorySegment above = KeyBounds.above(MemorySegment.ofArray(string), bytesMax);
    return above == null ? null : above.toArray(JAVA_BYTE);
  }
}
