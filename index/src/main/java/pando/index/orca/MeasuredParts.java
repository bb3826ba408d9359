package pando.index.orca;

/** The parts of a cache, and what it would gain and lose by one more or less. */
abstract class MeasuredParts implements PartHolder {
  /** Windows that count: one alone has few merges or none, which says little. */
  private static final int MEMORY = 16;

  private double gain;
  private double cost;

  /** Returns the number of its parts. */
  abstract int parts();

  /** Returns the number of parts that it keeps. */
  abstract int partsMin();

  /** Measures what has happened since the last call, a window, and {@linkplain #note notes} it. */
  abstract void measure();

  /**
   * Notes a window, by {@link PoolCosts}.
   *
   * @param windowGain what a part more would have saved
   * @param windowCost what a part less would have cost
   */
  final void note(double windowGain, double windowCost) {
    gain += (windowGain - gain) / MEMORY;
    cost += (windowCost - cost) / MEMORY;
  }

  /**
   * Returns what a part more would save, on the average of about the last {@value #MEMORY} windows.
   */
  final double gain() {
    return gain;
  }

  /** Returns what a part less would cost, on that average. */
  final double cost() {
    return cost;
  }

  /**
   * Spreads its contents more evenly over its parts, by one step; returns whether it moved any.
   * Default: does nothing.
   */
  boolean balance() {
    return false;
  }
}
