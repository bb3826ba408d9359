package pando.metrics;

import java.util.function.DoubleSupplier;

/**
 * A number that takes long to count, as a look at each frame of a cache does. It is counted again
 * only when 200 times as long as counting took has passed, so that it takes 0.5 % of a processor at
 * the most, however often it is asked for. Thread-safe.
 */
final class CostlyNumber implements DoubleSupplier {
  private static final int SHARE = 200;

  private final DoubleSupplier number;
  private double counted;
  private long countedAt;
  private long took;
  private boolean isCounted;

  CostlyNumber(DoubleSupplier number) {
    this.number = number;
  }

  @Override
  public synchronized double getAsDouble() {
    long start = System.nanoTime();
    if (!isCounted || start - countedAt >= SHARE * took) {
      counted = number.getAsDouble();
      countedAt = System.nanoTime();
      took = countedAt - start;
      isCounted = true;
    }
    return counted;
  }
}
