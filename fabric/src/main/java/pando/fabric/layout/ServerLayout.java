package pando.fabric.layout;

import pando.fabric.Fabric;

/**
 * The memory of one memory server.
 *
 * <pre>
 * 0          catalogueBytes                     dramBytes     mailboxOffset            bytes
 * +-----------+---------+---------+--   --+------+-------------+-----------------+------+
 * | catalogue | chunk 0 | chunk 1 |  ...  | pad  | on-chip     | mailbox         | pad  |
 * +-----------+---------+---------+--   --+------+-------------+-----------------+------+
 * |------------------- DRAM ---------------------|
 * </pre>
 *
 * <p>DRAM starts the memory, so that an offset in it is the offset in its global addresses. No verb
 * reaches the mailbox. Both pads fill up to whole pages.
 */
public final class ServerLayout {
  /** Bytes of the on-chip region. */
  public static final int ON_CHIP_BYTES = 256 << 10;

  /** Offset of the first chunk. */
  public static final long CHUNKS_OFFSET = Fabric.CATALOGUE_BYTES;

  private static final long CHUNKS_MAX = 1 << 24;
  private static final long PAGE_BYTES = 4096;

  private final int chunkBytes;
  private final int chunks;
  private final long dramBytes;

  /**
   * Lays out a memory server.
   *
   * @param capacityBytes what chunks can be made of; a remainder is left out
   * @param chunkBytes size of a chunk
   */
  public ServerLayout(long capacityBytes, int chunkBytes) {
    long count = capacityBytes / chunkBytes;
    if (count < 1 || count > CHUNKS_MAX) {
      throw new IllegalArgumentException(
          "the size of a memory server is out of range: bytes=%s, least=%s, greatest=%s"
              .formatted(capacityBytes, chunkBytes, chunkBytes * CHUNKS_MAX));
    }
    this.chunkBytes = chunkBytes;
    this.chunks = (int) count;
    this.dramBytes = roundUp(CHUNKS_OFFSET + (long) chunks * chunkBytes);
    assert CHUNKS_OFFSET % 64 == 0 && mailboxOffset() % PAGE_BYTES == 0;
    assert bytes() == dramBytes + ON_CHIP_BYTES + roundUp(MailboxLayout.BYTES);
  }

  /** Returns the size of a chunk. */
  public int chunkBytes() {
    return chunkBytes;
  }

  /** Returns the number of chunks. */
  public int chunks() {
    return chunks;
  }

  /** Returns the bytes of DRAM, catalogue included. */
  public long dramBytes() {
    return dramBytes;
  }

  /** Returns the offset of the on-chip region. */
  public long onChipOffset() {
    return dramBytes;
  }

  /** Returns the offset of the mailbox. */
  public long mailboxOffset() {
    return onChipOffset() + ON_CHIP_BYTES;
  }

  /** Returns the bytes of the whole memory. */
  public long bytes() {
    return mailboxOffset() + roundUp(MailboxLayout.BYTES);
  }

  private static long roundUp(long bytes) {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }
}
