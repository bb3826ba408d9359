package pando.fabric;

/**
 * By what a compute server names itself to memory servers: its number, and which start of it this
 * is. A fabric that is opened under a name can be {@linkplain Fabric#fence fenced}; one that names
 * none cannot.
 *
 * <p>Each start of a compute server needs a greater epoch than all its starts before had, and each
 * process a name of its own. Nothing checks that.
 *
 * @param number 0 to {@value #NUMBER_MAX}
 * @param epoch 1 to {@value #EPOCH_MAX}
 */
public record ComputeServer(int number, long epoch) {
  /** The greatest number. */
  public static final int NUMBER_MAX = 1023;

  /** The greatest epoch. */
  public static final long EPOCH_MAX = (1L << 34) - 1;

  private static final int EPOCH_BITS = 34;

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
              + ", minimum=1, maximum="
              + EPOCH_MAX);
    }
  }

  /** Returns whether number and epoch are in their ranges. */
  public static boolean isName(int number, long epoch) {
    return number >= 0 && number <= NUMBER_MAX && epoch >= 1 && epoch <= EPOCH_MAX;
  }

  /** Returns the name as a word of {@link Fabric#PROCESS_BITS} bits, not 0. */
  public long process() {
    return (long) number << EPOCH_BITS | epoch;
  }

  /** Returns the number in a {@link #process} word. */
  public static int numberOf(long process) {
    return (int) (process >>> EPOCH_BITS) & NUMBER_MAX;
  }

  /** Returns the epoch in a {@link #process} word. */
  public static long epochOf(long process) {
    return process & EPOCH_MAX;
  }
}
