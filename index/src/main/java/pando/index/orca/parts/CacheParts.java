package pando.index.orca.parts;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;

/**
 * The memory of a compute server's caches, in parts of equal size. Which cache has which part is
 * not known here.
 */
public final class CacheParts implements AutoCloseable {
  /** Least size of a part in bytes: some buckets of records, one set of images, a delta of 102. */
  public static final int PART_BYTES_MIN = 2304;

  /** Bytes behind the last part: what a reader of a block that is in use no more may read. */
  public static final int SLACK_BYTES = 4352;

  /** Least memory, in bytes: two parts. */
  public static final long BYTES_MIN = 2 * PART_BYTES_MIN + SLACK_BYTES;

  private static final int PARTS_MAX = 64;

  /** Two buckets of records. */
  private static final int MULTIPLE = 256;

  private final RegisteredMemory registered;
  private final MemorySegment memory;
  private final int count;
  private final long bytesOfPart;

  private CacheParts(RegisteredMemory registered, int count, long bytesOfPart) {
    this.registered = registered;
    this.memory = registered.segment();
    this.count = count;
    this.bytesOfPart = bytesOfPart;
  }

  /**
   * Makes 64 parts, or as many as their least size allows.
   *
   * @param bytes memory to use, at least {@link #BYTES_MIN}; what is left over by parts is not used
   */
  public static CacheParts create(Fabric fabric, long bytes) {
    if (bytes < BYTES_MIN) {
      throw new IllegalArgumentException(
          "too little memory for two parts: bytes=" + bytes + ", minimum=" + BYTES_MIN);
    }
    int count = (int) Math.min((bytes - SLACK_BYTES) / PART_BYTES_MIN, PARTS_MAX);
    return of(fabric, count, (bytes - SLACK_BYTES) / count & -MULTIPLE);
  }

  /**
   * Makes some parts.
   *
   * @param bytesOfPart size of each in bytes, a multiple of 256
   */
  public static CacheParts of(Fabric fabric, int count, long bytesOfPart) {
    if (bytesOfPart % MULTIPLE != 0) {
      throw new IllegalArgumentException("not a multiple of 256: bytesOfPart=" + bytesOfPart);
    }
    return new CacheParts(fabric.register(count * bytesOfPart + SLACK_BYTES), count, bytesOfPart);
  }

  /** Returns the memory that offsets are of. */
  public MemorySegment memory() {
    return memory;
  }

  /** Returns the number of parts. */
  public int count() {
    return count;
  }

  /** Returns the bytes of a part, a multiple of 256. */
  public long bytesOfPart() {
    return bytesOfPart;
  }

  /** Returns the offset of a part. */
  public long offset(int part) {
    return part * bytesOfPart;
  }

  /** Returns the part that an offset lies in. */
  public int partOf(long offset) {
    return (int) (offset / bytesOfPart);
  }

  /** Frees the memory. No thread may use a cache in it any more. */
  @Override
  public void close() {
    registered.close();
  }
}
