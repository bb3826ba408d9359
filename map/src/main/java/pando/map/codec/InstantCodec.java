package pando.map.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/** Seconds with the sign bit flipped, and nanoseconds. */
final class InstantCodec implements KeyCodec<Instant> {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int NANOS_MAX = 999_999_999;

  @Override
  public int fixedBytes() {
    return Long.BYTES + Integer.BYTES;
  }

  @Override
  public int maxBytes(Instant instant) {
    return fixedBytes();
  }

  @Override
  public int encode(Instant instant, MemorySegment to, long offset) {
    to.set(LONG, offset, instant.getEpochSecond() ^ Long.MIN_VALUE);
    to.set(INT, offset + Long.BYTES, instant.getNano());
    return fixedBytes();
  }

  @Override
  public Instant decode(MemorySegment from, long offset, int bytes) {
    Encodings.checkLength(this, bytes);
    long seconds = from.get(LONG, offset) ^ Long.MIN_VALUE;
    int nanos = from.get(INT, offset + Long.BYTES);
    if (nanos < 0 || nanos > NANOS_MAX) {
      throw new IllegalArgumentException(
          "no such nanosecond: codec=instants, nanos=" + Integer.toUnsignedString(nanos));
    }
    try {
      return Instant.ofEpochSecond(seconds, nanos);
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "no such instant: codec=instants, seconds=" + seconds + ", nanos=" + nanos, e);
    }
  }

  @Override
  public @Nullable Comparator<? super Instant> order() {
    return null;
  }

  @Override
  public String toString() {
    return "instants";
  }
}
