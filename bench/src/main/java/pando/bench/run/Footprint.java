package pando.bench.run;

/**
 * The memory that a map takes.
 *
 * @param records that it holds
 * @param poolBytes that hold them, 0 if that is unknown
 * @param cachedBytes of nodes, models and tables in the caches of all compute servers together
 */
public record Footprint(long records, long poolBytes, long cachedBytes) {
  /** The footprint of an empty map. */
  public static final Footprint NONE = new Footprint(0, 0, 0);

  /** Returns the bytes that hold a record. */
  public double poolBytesPerRecord() {
    return perRecord(poolBytes);
  }

  /** Returns the bytes in caches for each record there is, cached or not. */
  public double cachedBytesPerRecord() {
    return perRecord(cachedBytes);
  }

  private double perRecord(long bytes) {
    return records == 0 ? 0 : (double) bytes / records;
  }
}
