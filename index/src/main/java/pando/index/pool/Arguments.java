package pando.index.pool;

import pando.index.IndexOptions;

/** Checks what callers give, the same for every system. */
public final class Arguments {
  private Arguments() {}

  /** Checks the options of an index, and the compute servers that are to live in a process. */
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

  /** Checks the share of each node that a bulk load is to fill. */
  public static void checkFill(double fill) {
    if (!(fill > 0 && fill <= 1)) {
      throw new IllegalArgumentException("fill must be above 0 and at most 1: fill=" + fill);
    }
  }
}
