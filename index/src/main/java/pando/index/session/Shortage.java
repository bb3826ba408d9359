package pando.index.session;

/**
 * When memory for changes that wait is short: background tasks merge from 5/6 on until 1/32 less is
 * used, and sessions merge from 7/8 on.
 */
public final class Shortage {
  private static final int PART_LEFT_WHEN_SHORT = 8;
  private static final int PART_LEFT_WHEN_NEARLY_SHORT = 6;
  private static final int PART_OF_EASE = 32;

  private Shortage() {}

  /** Returns whether sessions should merge. */
  public static boolean isShort(long used, long bytes) {
    return used > bytes - bytes / PART_LEFT_WHEN_SHORT;
  }

  /** Returns whether background tasks should merge. */
  public static boolean isNearlyShort(long used, long bytes) {
    return used > bytes - bytes / PART_LEFT_WHEN_NEARLY_SHORT;
  }

  /** Returns whether memory would not be nearly short again after a few changes. */
  public static boolean isEased(long used, long bytes) {
    return used <= bytes - bytes / PART_LEFT_WHEN_NEARLY_SHORT - bytes / PART_OF_EASE;
  }

  /** Returns which share of the memory is used that is left when it begins to be short. */
  public static double share(long used, long bytes) {
    return Math.clamp(1 - (double) (bytes - used) * PART_LEFT_WHEN_SHORT / bytes, 0, 1);
  }
}
