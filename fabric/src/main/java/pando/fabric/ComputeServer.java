package pando.fabric;

/**
 * By what a compute server names itself to memory servers: its number, and which start of it this
 * is. A fabric that is opened under a name can be {@linkplain Fabric#fence fenced}; one that names
 * none cannot.
 *
 * <p>Whoever starts compute servers must give each start of a number a greater epoch than all
 * starts before had, and run at most one process under a name. Nothing checks that.
 *
 * @param number 0 to {@value #NUMBER_MAX}
 * @param epoch at least 1
 */
public record ComputeServer(int number, long epoch) {
  /** The greatest number. */
  public static final int NUMBER_MAX = 1023;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public ComputeServer {
    if (!isName(number, epoch)) {
      throw new IllegalArgumentException(
          "no compute server has this name: number="
              + number
              + ", maximum="
              + NUMBER_MAX
              + ", epoch="
              + epoch
              + ", minimum=1");
    }
  }

  /** Returns whether number and epoch are in their ranges. */
  public static boolean isName(int number, long epoch) {
    return number >= 0 && number <= NUMBER_MAX && epoch >= 1;
  }
}
