package pando.map.codec;

import static java.util.stream.Collectors.joining;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Tuples, part by part.
 *
 * <pre>
 *   a part of fixed length   as it is
 *   any other                each byte 00 as 00 FF, and 00 00 behind the last
 * </pre>
 *
 * <p>So no encoding of a part is the beginning of another, and what follows a shorter part sorts
 * before what would follow a longer one.
 */
public final class TupleCodec implements KeyCodec<Tuple> {
  private static final int ESCAPE = 0xFF;
  private static final int END_BYTES = 2;

  private final List<KeyCodec<Object>> parts;
  private final int fixedBytes;

  TupleCodec(KeyCodec<?>... parts) {
    this.parts = Arrays.stream(parts).<KeyCodec<Object>>map(TupleCodec::ofObjects).toList();
    if (parts.length == 0) {
      throw new IllegalArgumentException("a tuple has at least one part: parts=0");
    }
    boolean fixed = this.parts.stream().allMatch(TupleCodec::isFixed);
    this.fixedBytes = fixed ? this.parts.stream().mapToInt(ValueCodec::fixedBytes).sum() : VARIABLE;
  }

  @SuppressWarnings("unchecked") // A part of another class is a ClassCastException of its codec.
  private static KeyCodec<Object> ofObjects(KeyCodec<?> codec) {
    return (KeyCodec<Object>) codec;
  }

  private static boolean isFixed(KeyCodec<Object> part) {
    return part.fixedBytes() != VARIABLE;
  }

  /**
   * Returns the range of all tuples that begin with parts.
   *
   * @param first the parts, as many as there are or fewer
   * @throws IllegalArgumentException if they are too many, or one has no encoding
   */
  public PrefixRange prefix(Object... first) {
    if (first.length > parts.size()) {
      throw otherSize(first.length);
    }
    Tuple tuple = Tuple.of(first);
    byte[] buffer = new byte[maxBytesOf(tuple)];
    int bytes = encodeParts(tuple, MemorySegment.ofArray(buffer), 0);
    return PrefixRange.startingWith(Arrays.copyOf(buffer, bytes));
  }

  @Override
  public int fixedBytes() {
    return fixedBytes;
  }

  @Override
  public int maxBytes(Tuple tuple) {
    checkSize(tuple);
    return maxBytesOf(tuple);
  }

  private int maxBytesOf(Tuple tuple) {
    long bytes = 0;
    for (int i = 0; i < tuple.size(); i++) {
      KeyCodec<Object> part = parts.get(i);
      bytes += isFixed(part) ? part.fixedBytes() : 2L * part.maxBytes(tuple.get(i)) + END_BYTES;
    }
    return Encodings.maxBytes(this, bytes);
  }

  @Override
  public int encode(Tuple tuple, MemorySegment to, long offset) {
    checkSize(tuple);
    return encodeParts(tuple, to, offset);
  }

  private void checkSize(Tuple tuple) {
    if (tuple.size() != parts.size()) {
      throw otherSize(tuple.size());
    }
  }

  private IllegalArgumentException otherSize(int size) {
    return new IllegalArgumentException(
        "another number of parts: codec=%s, parts=%s, given=%s"
            .formatted(this, parts.size(), size));
  }

  private int encodeParts(Tuple tuple, MemorySegment to, long offset) {
    long at = offset;
    for (int i = 0; i < tuple.size(); i++) {
      KeyCodec<Object> part = parts.get(i);
      int bytes = part.encode(tuple.get(i), to, at);
      at += isFixed(part) ? bytes : escape(to, at, bytes);
    }
    return (int) (at - offset);
  }

  /** Escapes and ends a part in place, from its end, and returns its new length. */
  private static int escape(MemorySegment to, long offset, int bytes) {
    int zeros = 0;
    for (int i = 0; i < bytes; i++) {
      zeros += Encodings.unsigned(to, offset + i) == 0 ? 1 : 0;
    }
    long end = offset + bytes + zeros;
    Encodings.set(to, end, 0);
    Encodings.set(to, end + 1, 0);
    long at = end;
    for (long i = offset + bytes - 1; at > i + 1; i--) {
      int unsigned = Encodings.unsigned(to, i);
      if (unsigned == 0) {
        Encodings.set(to, --at, ESCAPE);
      }
      Encodings.set(to, --at, unsigned);
    }
    return bytes + zeros + END_BYTES;
  }

  @Override
  public Tuple decode(MemorySegment from, long offset, int bytes) {
    Object[] values = new Object[parts.size()];
    int at = 0;
    for (int i = 0; i < values.length; i++) {
      KeyCodec<Object> part = parts.get(i);
      int length = isFixed(part) ? part.fixedBytes() : escapedBytes(from, offset, at, bytes);
      if (length > bytes - at) {
        throw Encodings.malformed(this, "truncated", at);
      }
      values[i] =
          isFixed(part)
              ? part.decode(from, offset + at, length)
              : unescaped(part, from, offset + at, length - END_BYTES);
      at += length;
    }
    if (at < bytes) {
      throw Encodings.malformed(this, "goes on behind the last part", at);
    }
    return Tuple.of(values);
  }

  /** Returns the length of an escaped part with its end. */
  private int escapedBytes(MemorySegment from, long offset, int place, int bytes) {
    for (int at = place; at < bytes - 1; at++) {
      if (Encodings.unsigned(from, offset + at) == 0) {
        int next = Encodings.unsigned(from, offset + ++at);
        if (next == 0) {
          return at + 1 - place;
        }
        if (next != ESCAPE) {
          throw Encodings.malformed(this, "00 before " + Integer.toHexString(next), at);
        }
      }
    }
    throw Encodings.malformed(this, "a part without end", place);
  }

  private static Object unescaped(
      KeyCodec<Object> part, MemorySegment from, long offset, int bytes) {
    int zeros = 0;
    for (int i = 0; i < bytes; i++) {
      zeros += Encodings.unsigned(from, offset + i) == 0 ? 1 : 0;
    }
    if (zeros == 0) {
      return part.decode(from, offset, bytes);
    }
    byte[] plain = new byte[bytes - zeros];
    int at = 0;
    for (int i = 0; i < plain.length; i++) {
      plain[i] = from.get(ValueLayout.JAVA_BYTE, offset + at);
      at += plain[i] == 0 ? 2 : 1;
    }
    return part.decode(MemorySegment.ofArray(plain), 0, plain.length);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A tuple of fewer parts, which has no encoding, comes before all that begin with it.
   */
  @Override
  public Comparator<? super Tuple> order() {
    return this::compare;
  }

  private int compare(Tuple one, Tuple other) {
    int size = Math.min(one.size(), other.size());
    for (int i = 0; i < size; i++) {
      int compared = orderOf(parts.get(i)).compare(one.get(i), other.get(i));
      if (compared != 0) {
        return compared;
      }
    }
    return Integer.compare(one.size(), other.size());
  }

  /** Returns the order of a codec's keys, also where it is their natural one. */
  @SuppressWarnings("unchecked") // Keys without an order of their codec are comparable.
  static Comparator<? super Object> orderOf(KeyCodec<Object> part) {
    Comparator<? super Object> order = part.order();
    return order != null ? order : (Comparator<Object>) (Comparator<?>) Comparator.naturalOrder();
  }

  @Override
  public String toString() {
    return parts.stream().map(ValueCodec::name).collect(joining(", ", "tuple(", ")"));
  }
}
