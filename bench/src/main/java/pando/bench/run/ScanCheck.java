package pando.bench.run;

import pando.cli.WrongResultException;

/**
 * Checks that a scan begins with its record, which is there, that its keys ascend, and that it is
 * as long as it should be. Used for one scan after the other. Not thread-safe.
 */
public final class ScanCheck {
  private final long lastKey;
  private final long seed;
  private long from;
  private long last;
  private int length;
  private int entries;

  /**
   * Creates a check.
   *
   * @param lastKey greatest key that was loaded in the range that scans may read; a scan that
   *     reaches it may be short
   * @param seed of the records, for messages
   */
  public ScanCheck(long lastKey, long seed) {
    this.lastKey = lastKey;
    this.seed = seed;
  }

  /** Begins a scan of so many records from the key of the first. */
  public void begin(long key, int records) {
    from = key;
    length = records;
    entries = 0;
  }

  /**
   * Checks the key of the next entry.
   *
   * @throws WrongResultException if it is out of order, or should have been the scan's record
   */
  public void entry(long key) {
    if (entries == 0 && key != from) {
      throw notItsRecord("" + key);
    }
    if (entries > 0 && key <= last) {
      throw wrong("a scan is out of order", "key=" + key + ", after=" + last);
    }
    last = key;
    entries++;
  }

  /**
   * Ends the scan.
   *
   * @throws WrongResultException if it has too few or too many entries
   */
  public void end() {
    if (entries == 0) {
      throw notItsRecord("none");
    }
    boolean isShort = entries < length && last < lastKey;
    if (isShort || entries > length) {
      throw wrong("a scan has a wrong length", "entries=" + entries + ", last=" + last);
    }
  }

  private WrongResultException notItsRecord(String first) {
    return wrong("a scan does not begin with its record", "first=" + first);
  }

  private WrongResultException wrong(String what, String values) {
    return new WrongResultException(what + ": from=" + from + ", " + values + ", seed=" + seed);
  }
}
