package pando.sim.history;

import java.util.List;

/**
 * One ascending scan, as its client observed it.
 *
 * @param client number of the client
 * @param start time before it began
 * @param end time after it ended
 * @param from least key asked for
 * @param to greatest key of the range, or the last key covered if the limit ended the scan
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
}
