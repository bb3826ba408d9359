package pando.map;

/**
 * The keys of a view, as words: from a low one to a high one, each included or not. Immutable.
 *
 * <p>An empty view has bounds, too: what it may be narrowed to depends on them.
 */
final class Bounds {
  static final Bounds ALL = new Bounds(Long.MIN_VALUE, true, Long.MAX_VALUE, true);

  private final long low;
  private final boolean lowIncluded;
  private final long high;
  private final boolean highIncluded;
  private final long first;
  private final long last;

  private Bounds(long low, boolean lowIncluded, long high, boolean highIncluded) {
    this.low = low;
    this.lowIncluded = lowIncluded;
    this.high = high;
    this.highIncluded = highIncluded;
    boolean nothing =
        (!lowIncluded && low == Long.MAX_VALUE) || (!highIncluded && high == Long.MIN_VALUE);
    this.first = nothing ? Long.MAX_VALUE : low + (lowIncluded ? 0 : 1);
    this.last = nothing ? Long.MIN_VALUE : high - (highIncluded ? 0 : 1);
  }

  /** Returns the least word inside; above {@link #last} if there is none. */
  long first() {
    return first;
  }

  /** Returns the greatest word inside. */
  long last() {
    return last;
  }

  boolean isEmpty() {
    return first > last;
  }

  boolean contains(long word) {
    return first <= word && word <= last;
  }

  /** Returns these bounds with another low one. */
  Bounds from(long word, boolean included) {
    return narrow(word, included, high, highIncluded);
  }

  /** Returns these bounds with another high one. */
  Bounds to(long word, boolean included) {
    return narrow(low, lowIncluded, word, included);
  }

  /**
   * Returns other bounds within these.
   *
   * @throws IllegalArgumentException if they are not within these, or are reversed
   */
  Bounds narrow(long from, boolean fromIncluded, long to, boolean toIncluded) {
    boolean fromIsInside = from > low || (from == low && (lowIncluded || !fromIncluded));
    boolean toIsInside = to < high || (to == high && (highIncluded || !toIncluded));
    Bounds narrower = new Bounds(from, fromIncluded, to, toIncluded);
    if (from > to) {
      throw new IllegalArgumentException("range is reversed: " + narrower);
    }
    if (!fromIsInside || !toIsInside) {
      throw new IllegalArgumentException(
          "range is not inside of the view: " + narrower + ", view: " + this);
    }
    return narrower;
  }

  @Override
  public String toString() {
    return "from=%s, included=%s, to=%s, included=%s"
        .formatted(low, lowIncluded, high, highIncluded);
  }
}
