package pando.cluster;

import java.util.List;
import java.util.Locale;

/** Where compute servers log changes that the pool may lack. */
public enum LogMode {
  /** Nowhere: what a compute server had not written to the pool is lost with it. */
  NONE,

  /**
   * In the memory of memory servers 0 and 1: nothing acknowledged is lost where a compute server is
   * lost.
   */
  MEMORY,

  /**
   * In the data folders of memory servers 0 and 1, with all other entries: nothing acknowledged is
   * lost whatever ends, as far as the folders' {@code sync} says.
   */
  DATA;

  /**
   * Returns the mode with a name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static LogMode of(String name) {
    for (LogMode mode : values()) {
      if (mode.toString().equals(name)) {
        return mode;
      }
    }
    throw new IllegalArgumentException(
        "no such log: name=%s, known=%s".formatted(name, List.of(values())));
  }

  /** Returns its name, such as {@code memory}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
