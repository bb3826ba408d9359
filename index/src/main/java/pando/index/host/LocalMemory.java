package pando.index.host;

/**
 * The layout of a worker's local memory before it is registered: each part of the worker adds its
 * region.
 */
public final class LocalMemory {
  private long bytes;

  /** Creates a layout without regions. */
  public LocalMemory() {}

  /**
   * Adds a region.
   *
   * @param more size of the region in bytes, a multiple of 8
   * @return the local offset of the region
   */
  public long region(long more) {
    long start = bytes;
    bytes += more;
    return start;
  }

  /** Returns the size of all regions together, in bytes. */
  long bytes() {
    return bytes;
  }
}
