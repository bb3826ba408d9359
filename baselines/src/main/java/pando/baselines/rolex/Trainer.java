package pando.baselines.rolex;

/**
 * Fits a line to as many ascending keys as one can be fitted to. Of one thread.
 *
 * <p>Every key is a vertical bar about its position, epsilon up and epsilon down, and a line covers
 * a key where it passes through the bar. Key after key is taken in while some line passes through
 * all bars (O'Rourke, An on-line algorithm for fitting straight lines between data ranges, CACM
 * 1981), as ROLEX trains its models (its section on retraining-decoupled learned indexes). Ending
 * each segment as late as possible gives the fewest segments.
 *
 * <p>Of all lines that pass, two are kept: the steepest and the flattest. The steepest is held down
 * by the lower end of a bar (its pivot) and by the upper end of a later one. To its right no line
 * that passes is above it, so:
 *
 * <ul>
 *   <li>a bar wholly above it cannot be covered: the segment ends;
 *   <li>a bar whose upper end is above it changes nothing, neither now nor later;
 *   <li>a bar whose upper end is below it turns it down, about the lower end from where that end is
 *       seen flattest. That is a corner of the hull over the lower ends, and none before the pivot;
 *       so the pivot only moves on, corners behind it are forgotten, and a key costs O(1)
 *       amortised.
 * </ul>
 *
 * <p>The flattest is the steepest of the mirrored bars, and so the same code ({@link Limit}). Any
 * slope between theirs has a line that passes. The mean is taken: it is furthest from both limits,
 * and it is positive, since the two keys that hold the steepest down hold the flattest up as well,
 * and the mean of what these two allow is the slope from one's position to the other's.
 *
 * <p>All this is done in doubles, and the line is packed into floats. So the slope is packed first,
 * then the intercept is put midway between the keys furthest above and below, and then every key is
 * looked up in the packed line: the first that it misses ends the segment. To miss none, bars are
 * drawn a little short; where one is missed nevertheless, shorter, until nothing is left to win.
 * With a low too far away for floats to hold a slope, the horizontal line is left.
 */
final class Trainer {
  private static final double SIZE_MIN = 0x1p-32;
  private static final double SIZE_MAX = 0x1p32;

  /** What bars are of epsilon, one try after another. */
  private static final double[] SHARES = {1 - 0x1p-16, 1 - 0x1p-12, 1 - 0x1p-8, 1 - 0x1p-4, 0.5};

  private final int pointsMax;

  /** How far keys are from the low. */
  private final double[] distances;

  private final Limit steepest;
  private final Limit flattest;
  private double slope;
  private long line;

  /**
   * Creates a trainer; nothing is allocated afterwards.
   *
   * @param pointsMax keys that a line may cover, at least 1
   */
  Trainer(int pointsMax) {
    if (pointsMax < 1) {
      throw new IllegalArgumentException("a line covers a key at least: pointsMax=" + pointsMax);
    }
    this.pointsMax = pointsMax;
    this.distances = new double[pointsMax];
    this.steepest = new Limit(pointsMax);
    this.flattest = new Limit(pointsMax);
  }

  /**
   * Fits one line to the longest prefix of keys of which each, as computed by {@link Line#at} with
   * the {@linkplain #line packed line}, is less than epsilon from its position. The length falls
   * short of what real numbers allow only by what rounding costs: with a low that is more than some
   * 2^24 positions before the first key, down to 2 epsilon / step keys.
   *
   * @param low where the line starts, at most the first key
   * @param keys ascending, each once
   * @param from the first key, whose position is 0
   * @param to after the last key; no more than {@code pointsMax} are looked at
   * @param step positions from one key to the next, from 2^-32 to 2^32
   * @param epsilon in positions, from 2^-32 to 2^32
   * @return the keys covered, 0 only where there are none
   */
  int fit(long low, long[] keys, int from, int to, double step, double epsilon) {
    check(low, keys, from, to, step, epsilon);
    int points = Math.min(to - from, pointsMax);
    line = Line.ZERO;
    int most = points;
    int reached = points;
    int covered = 0;
    for (int i = 0; i < SHARES.length && covered < reached; i++) {
      reached = reach(low, keys, from, most, step, epsilon * SHARES[i]);
      most = i == 0 ? reached : most;
      covered = keepBetter(covered, midway(reached, step), reached, step, epsilon);
    }
    if (covered < most) {
      double intercept = Math.min((most - 1) * step / 2, epsilon * SHARES[0]);
      covered = keepBetter(covered, Line.of(0, intercept), most, step, epsilon);
    }
    return covered;
  }

  /** Returns the line that was fitted last. */
  long line() {
    return line;
  }

  private static void check(long low, long[] keys, int from, int to, double step, double epsilon) {
    boolean inside = from >= 0 && from <= to && to <= keys.length;
    if (!inside || !isSize(step) || !isSize(epsilon) || (from < to && keys[from] < low)) {
      throw new IllegalArgumentException(
          "not to be fitted: low="
              + low
              + ", first="
              + (inside && from < to ? keys[from] : "none")
              + ", keys="
              + keys.length
              + ", from="
              + from
              + ", to="
              + to
              + ", step="
              + step
              + ", epsilon="
              + epsilon);
    }
  }

  private static boolean isSize(double size) {
    return size >= SIZE_MIN && size <= SIZE_MAX;
  }

  /** Returns how many keys some line reaches, and leaves such a line's slope. */
  private int reach(long low, long[] keys, int from, int points, double step, double bar) {
    double first = Line.distance(low, keys[from]);
    flattest.start(first, -bar);
    boolean passes = true;
    int j = 0;
    for (; passes && j < points; j++) {
      double x = Line.distance(low, keys[from + j]);
      double y = j * step;
      distances[j] = x;
      if (x > first) {
        passes = take(x, y, bar);
      } else {
        // Far from the low many keys are at one distance: together they are a bar from the last's
        // lower end to the first's upper end. Further on that needs no care: of the second such
        // key the upper end is above the steepest, only the lower may be above the flattest.
        passes = y - bar <= bar;
        steepest.start(x, y - bar);
      }
    }
    // At least 0 but for rounding.
    slope = distances[j - 1] > first ? Math.max(0, (steepest.slope() - flattest.slope()) / 2) : 0;
    return passes ? j : j - 1;
  }

  /** Takes a bar in, unless no line that passes through those before passes through it. */
  private boolean take(double x, double y, double bar) {
    if (steepest.isBelow(x, y - bar) || flattest.isBelow(x, -y - bar)) {
      return false;
    }
    boolean down = !steepest.isBelow(x, y + bar);
    boolean up = !flattest.isBelow(x, -y + bar);
    if (down) {
      steepest.turn(x, y + bar);
    }
    if (up) {
      flattest.turn(x, -y + bar);
    }
    // Only now, so that no line is turned about the bar that turns it.
    if (down) {
      flattest.add(x, -y - bar);
    }
    if (up) {
      steepest.add(x, y - bar);
    }
    return true;
  }

  /** Returns the packed line of the slope, as far below the one as above the other key. */
  private long midway(int points, double step) {
    long rising = Line.of(slope, 0);
    double min = Double.POSITIVE_INFINITY;
    double max = Double.NEGATIVE_INFINITY;
    for (int j = 0; j < points; j++) {
      double missing = j * step - Line.at(rising, distances[j]);
      min = Math.min(min, missing);
      max = Math.max(max, missing);
    }
    return Line.of(slope, (min + max) / 2);
  }

  /** Keeps a line that covers more keys than the one before; returns the keys covered. */
  private int keepBetter(int covered, long candidate, int points, double step, double epsilon) {
    if (!Line.isSound(candidate)) {
      return covered;
    }
    int j = 0;
    while (j < points && Math.abs(Line.at(candidate, distances[j]) - j * step) < epsilon) {
      j++;
    }
    if (j <= covered) {
      return covered;
    }
    line = candidate;
    return j;
  }

  /**
   * The steepest line that passes: from its pivot, the first corner, to the end that turned it
   * last.
   */
  private static final class Limit {
    /** The corners of the hull over the lower ends, from the pivot on; slopes descend. */
    private final double[] cornerX;

    private final double[] cornerY;
    private int pivot;
    private int corners;
    private double endX;
    private double endY;

    Limit(int pointsMax) {
      cornerX = new double[pointsMax];
      cornerY = new double[pointsMax];
    }

    /** Starts anew: every line from the lower end of the first bar is to be turned down. */
    void start(double x, double y) {
      cornerX[0] = x;
      cornerY[0] = y;
      pivot = 0;
      corners = 1;
      endX = x;
      endY = y;
    }

    /** Returns whether the line is below a point; before it was turned first, it is vertical. */
    boolean isBelow(double x, double y) {
      double pivotX = cornerX[pivot];
      double pivotY = cornerY[pivot];
      return endX != pivotX && (endY - pivotY) * (x - pivotX) < (y - pivotY) * (endX - pivotX);
    }

    /** Turns the line down to an upper end that is not above it. */
    void turn(double x, double y) {
      while (pivot + 1 < corners
          && (y - cornerY[pivot + 1]) * (x - cornerX[pivot])
              <= (y - cornerY[pivot]) * (x - cornerX[pivot + 1])) {
        pivot++;
      }
      endX = x;
      endY = y;
    }

    /** Adds a lower end that is not above the line. */
    void add(double x, double y) {
      // Never the pivot: all corners are below the line through it.
      while (corners - pivot >= 2 && !isCorner(corners - 1, x, y)) {
        corners--;
      }
      cornerX[corners] = x;
      cornerY[corners] = y;
      corners++;
    }

    /** Returns whether a corner is above the line from the one before it to a point. */
    private boolean isCorner(int corner, double x, double y) {
      double beforeX = cornerX[corner - 1];
      double beforeY = cornerY[corner - 1];
      return (cornerY[corner] - beforeY) * (x - beforeX)
          > (y - beforeY) * (cornerX[corner] - beforeX);
    }

    double slope() {
      return (endY - cornerY[pivot]) / (endX - cornerX[pivot]);
    }
  }
}
