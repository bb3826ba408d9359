package pando.index.orca.parts;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;

/**
 * The memory of a compute server's caches, in parts of equal size. Which cache has which part is
 * not known here.
 */
public final class CacheParts implements AutoCloseable {
  /** Least size of a part in bytes: some buckets of records, one set of images, a delta of 127. */
  public static final int PART_BYTES_MIN = 2304;

  /** Bytes behind the last part: what a reader of a block that is in use no more may read. */
  public static final int SLACK_BYTES = 4352;

  /** Least number of parts for caches: one of records and one of deltas. */
  public static final int CACHES_MIN = 2;

  /** Least memory, in bytes: the caches' least, and a part for the directory. */
  public static final long BYTES_MIN = (CACHES_MIN + 1) * PART_BYTES_MIN + SLACK_BYTES;

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
          "too little memory for parts: bytes=" + bytes + ", minimum=" + BYTES_MIN);
    }
    int count = (int) Math.min((bytes - SLACK_BYTES) / PART_BYTES_MIN, PARTS_MAX);
    return of(fabric, count, (bytes - SLACK_BYTES) / count & -MULTIPLE);
  }

  /**
   * Returns the least memory, in bytes, of which the caches' least is left where parts for a
   * directory are set aside.
   *
   * @param directoryBytes what the directory takes
   */
  public static long bytesBeside(long directoryBytes) {
    for (int count = CACHES_MIN + 1; ; count++) {
      long part = Math.max(PART_BYTES_MIN, roundedUp(directoryBytes, count - CACHES_MIN));
      // With a part more than that, there would be more parts, not larger ones.
      if (count == PARTS_MAX || count * part < (count + 1L) * PART_BYTES_MIN) {
        return count * part + SLACK_BYTES;
      }
    }
  }

  private static long roundedUp(long bytes, int parts) {
    long part = Math.ceilDiv(bytes, parts);
    return Math.ceilDiv(part, MULTIPLE) * MULTIPLE;
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

  /** Returns how many parts some bytes take, which may be more than there are. */
  public long partsFor(long bytes) {
    return Math.ceilDiv(bytes, bytesOfPart);
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
