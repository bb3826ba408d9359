package pando.sim.history;

import java.util.List;

/**
 * One scan, as its client observed it; a descending one where {@code from} is above {@code to}.
 *
 * @param client number of the client
 * @param start time before it began
 * @param end time after it ended
 * @param from first key of the range
 * @param to last key of the range, or the last key covered if the limit ended the scan
 * @param entries the entries returned, in that order
 */
public record Scan(int client, long start, long end, long from, long to, List<Entry> entries) {
  /**
   * A key and its value.
   *
   * @param key the key
   * @param value the value
   */
  public record Entry(long key, long value) {}

  /** Keeps a copy of the entries. */
  public Scan {
    entries = List.copyOf(entries);
  }

  /** Returns whether it descends. */
  boolean isDown() {
    return from > to;
  }

  /** Returns the least key of the range. */
  long least() {
    return Math.min(from, to);
  }

  /** Returns the greatest key of the range. */
  long greatest() {
    return Math.max(from, to);
  }
}
