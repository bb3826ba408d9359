package pando.index.session;

/**
 * The average of independent estimates of the same number, each of which is right on average, such
 * as that of a leaf drawn at random: its entries, divided by the probability of drawing it (Knuth,
 * Estimating the Efficiency of Backtrack Programs, 1975).
 */
public final class SizeEstimate {
  private static final int LEAST = 32;
  private static final int MOST = 1_024;

  /** Standard error of the average, as a share of it, at which it is good enough. */
  private static final double ERROR = 0.025;

  private int count;
  private double mean;
  private double squares;

  /** Creates an average of no estimates. */
  public SizeEstimate() {}

  /** Forgets all estimates. */
  public void clear() {
    count = 0;
    mean = 0;
    squares = 0;
  }

  /** Adds an estimate. */
  public void add(double size) {
    count++;
    double distance = size - mean;
    mean += distance / count;
    squares += distance * (size - mean);
  }

  /** Returns whether there are enough estimates: they agree, or there are very many. */
  public boolean isEnough() {
    double error = mean * ERROR;
    return count == MOST || (count >= LEAST && squares <= error * error * count * (count - 1.0));
  }

  /** Returns the average. */
  public double mean() {
    return mean;
  }
}
