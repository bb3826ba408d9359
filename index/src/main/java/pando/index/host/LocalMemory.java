package pando.index.host;

/** Local memory that is to be registered: the parts of a worker ask for regions, in turn. */
public final class LocalMemory {
  private long bytes;

  /** Creates local memory without regions. */
  public LocalMemory() {}

  /**
   * Adds a region.
   *
   * @param more its bytes, a multiple of 8
   * @return its local offset
   */
  public long region(long more) {
    long start = bytes;
    bytes += more;
    return start;
  }

  /** Returns the bytes of all regions. */
  long bytes() {
    return bytes;
  }
}
