package pando.map;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteIndex;

/**
 * The keys of a view as keys of the index: from a low one to a high one, each included or not, or
 * to the ends of what the map has. Immutable.
 *
 * <p>An empty view has bounds, too: what it may be narrowed to depends on them.
 */
final class Bounds {
  private final KeyBytes<?> keys;
  private final @Nullable MemorySegment low;
  private final boolean lowIncluded;
  private final @Nullable MemorySegment high;
  private final boolean highIncluded;
  private final MemorySegment first;
  private final @Nullable MemorySegment end;
  private final boolean hasFirst;
  private final boolean all;
  private final boolean empty;

  private Bounds(
      KeyBytes<?> keys,
      @Nullable MemorySegment low,
      boolean lowIncluded,
      @Nullable MemorySegment high,
      boolean highIncluded) {
    this.keys = keys;
    this.low = low;
    this.lowIncluded = lowIncluded;
    this.high = high;
    this.highIncluded = highIncluded;
    MemorySegment above = low == null || lowIncluded ? low : keys.above(low);
    this.hasFirst = above != null;
    this.first = above == null ? keys.space().prefix() : above;
    this.end = end(keys, high, highIncluded);
    this.all = low == null && high == null;
    boolean isAboveAll = low != null && above == null;
    MemorySegment least = above == null ? keys.least() : above;
    this.empty = isAboveAll || (end != null && ByteIndex.compare(least, end) >= 0);
  }

  private static @Nullable MemorySegment end(
      KeyBytes<?> keys, @Nullable MemorySegment high, boolean highIncluded) {
    MemorySegment end = high == null || !highIncluded ? high : keys.above(high);
    MemorySegment ofAll = keys.space().end();
    return end == null || (ofAll != null && ByteIndex.compare(end, ofAll) > 0) ? ofAll : end;
  }

  /** Returns the bounds of all keys. */
  static Bounds all(KeyBytes<?> keys) {
    return new Bounds(keys, null, true, null, true);
  }

  boolean areAll() {
    return all;
  }

  boolean isEmpty() {
    return empty;
  }

  /** Returns whether {@link #first} is that of a bound. */
  boolean hasFirst() {
    return hasFirst;
  }

  /** Returns the least key inside; without a low bound, the prefix of all keys of the map. */
  MemorySegment first() {
    return first;
  }

  /** Returns the least key above all inside; {@code null} if there is none. */
  @Nullable MemorySegment end() {
    return end;
  }

  boolean contains(MemorySegment key) {
    return !empty && !isBelow(key) && !isAbove(key);
  }

  /** Returns whether a key is below the first one inside. */
  boolean isBelow(MemorySegment key) {
    return first.byteSize() > 0 && ByteIndex.compare(key, first) < 0;
  }

  /** Returns whether a key is above all inside. */
  boolean isAbove(MemorySegment key) {
    return end != null && ByteIndex.compare(key, end) >= 0;
  }

  /** Returns these bounds with another low one. */
  Bounds from(MemorySegment key, boolean included) {
    return checked(new Bounds(keys, key, included, high, highIncluded));
  }

  /** Returns these bounds with another high one. */
  Bounds to(MemorySegment key, boolean included) {
    return checked(new Bounds(keys, low, lowIncluded, key, included));
  }

  /** Returns the bounds of what follows behind a key; {@code null} if there is no such key. */
  @Nullable Bounds behind(@Nullable MemorySegment key, boolean down) {
    if (key == null) {
      return null;
    }
    return down ? to(key, false) : from(key, false);
  }

  /**
   * Returns other bounds within these.
   *
   * @throws IllegalArgumentException if they are not within these
   */
  Bounds narrow(MemorySegment from, boolean fromIncluded, MemorySegment to, boolean toIncluded) {
    return checked(new Bounds(keys, from, fromIncluded, to, toIncluded));
  }

  private Bounds checked(Bounds narrower) {
    boolean isReversed =
        narrower.low != null
            && narrower.high != null
            && ByteIndex.compare(narrower.low, narrower.high) > 0;
    if (isReversed
        || !isInside(narrower.low, narrower.lowIncluded, low, lowIncluded, 1)
        || !isInside(narrower.high, narrower.highIncluded, high, highIncluded, -1)) {
      throw new IllegalArgumentException(
          "range is not inside of the view: " + narrower + ", view: " + this);
    }
    return narrower;
  }

  /** Returns whether a bound is inside of another one; a sign says which side is meant. */
  private static boolean isInside(
      @Nullable MemorySegment inner,
      boolean innerIncluded,
      @Nullable MemorySegment outer,
      boolean outerIncluded,
      int sign) {
    if (outer == null || inner == null) {
      return outer == null;
    }
    int order = ByteIndex.compare(inner, outer) * sign;
    return order > 0 || (order == 0 && (outerIncluded || !innerIncluded));
  }

  @Override
  public String toString() {
    return "low=%s, included=%s, high=%s, included=%s"
        .formatted(keys.text(low), lowIncluded, keys.text(high), highIncluded);
  }
}
