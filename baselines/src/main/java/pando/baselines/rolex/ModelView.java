package pando.baselines.rolex;

/**
 * A model as one session found it in the table: a line that predicts where in a run of leaves a key
 * is. Filled again and again.
 */
final class ModelView {
  private final double epsilon;
  private final double delta;
  private final int span;

  long low;
  long high;
  long place;
  long line;
  long stamp;

  /**
   * Creates room for a model.
   *
   * @param epsilon how far a prediction can be wrong, in entries
   * @param delta entries of a leaf
   */
  ModelView(int epsilon, int delta) {
    this.epsilon = epsilon;
    this.delta = delta;
    this.span = span(epsilon, delta);
  }

  /** Returns how many leaves apart the first and the last are in which a key can be. */
  static int span(int epsilon, int delta) {
    return (2 * epsilon + delta - 1) / delta;
  }

  /** Returns the first leaf that can cover a key of the model. */
  int first(long key) {
    double leaf = Math.floor((Line.at(line, low, key) - epsilon) / delta);
    return (int) Math.min(Math.max(leaf, 0), leaves() - 1);
  }

  /** Returns the last leaf that can cover a key of the model. */
  int last(long key) {
    double leaf = Math.floor((Line.at(line, low, key) - epsilon) / delta) + span;
    return (int) Math.min(Math.max(leaf, 0), leaves() - 1);
  }

  int leaves() {
    return RunLayout.leaves(place);
  }

  long run() {
    return RunLayout.address(place);
  }

  void set(ModelView other) {
    low = other.low;
    high = other.high;
    place = other.place;
    line = other.line;
    stamp = other.stamp;
  }

  /** Returns whether another is the same, with the same leaves. */
  boolean isSame(ModelView other) {
    return low == other.low && high == other.high && stamp == other.stamp;
  }
}
