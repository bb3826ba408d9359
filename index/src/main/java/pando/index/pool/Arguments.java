package pando.index.pool;

import pando.index.IndexOptions;

/** Checks of callers' arguments that all systems share. */
public final class Arguments {
  private Arguments() {}

  /** Checks the options of an index, and the range of compute servers that a process will run. */
  public static void checkServers(IndexOptions options, int first, int count) {
    options.check();
    if (first < 0 || count < 1 || first > options.computeServers() - count) {
      throw new IllegalArgumentException(
          "no such compute servers: first="
              + first
              + ", count="
              + count
              + ", compute-servers="
              + options.computeServers());
    }
  }

  /** Checks the share of each node that a bulk load fills. */
  public static void checkFill(double fill) {
    if (!(fill > 0 && fill <= 1)) {
      throw new IllegalArgumentException("fill must be above 0 and at most 1: fill=" + fill);
    }
  }
}
