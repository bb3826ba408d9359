package pando.journal;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** When a change counts as kept, and is acknowledged. */
public enum SyncPolicy {
  /** Once it is on the disk: a failure of power loses nothing that was acknowledged. */
  ALWAYS,

  /**
   * Once it is in the log, which is on the disk a second later: a process that dies loses nothing,
   * a failure of power what was acknowledged in the last second. Changes wait where the disk takes
   * longer than two seconds.
   */
  EVERYSEC,

  /**
   * Once it is in the log: a process that dies loses nothing, a failure of power what the system
   * had not written.
   */
  NO;

  /**
   * Returns a policy by its name, such as {@code everysec}.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static SyncPolicy named(String name) {
    for (SyncPolicy policy : values()) {
      if (policy.toString().equals(name)) {
        return policy;
      }
    }
    String known =
        Arrays.stream(values()).map(SyncPolicy::toString).collect(Collectors.joining(", "));
    throw new IllegalArgumentException("no such policy: sync=" + name + ", known=" + known);
  }

  /** Returns its name, such as {@code everysec}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
