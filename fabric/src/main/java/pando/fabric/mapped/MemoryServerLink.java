package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.layout.ServerLayout;

/** A compute server's view of one memory server: its mapped memory, and whether it is lost. */
public final class MemoryServerLink {
  /**
   * Mask of an address's offset. It includes the bit that selects on-chip memory, so those offsets
   * are above all of DRAM.
   */
  private static final long OFFSET_MASK = (1L << GlobalAddress.SERVER_SHIFT) - 1;

  private final int number;
  private final MemorySegment segment;
  private final MemorySegment mailbox;
  private final long dramBytes;
  private final long onChipOffset;
  private volatile @Nullable String lostBecause;
  private volatile boolean closed;

  /**
   * Connects to a memory server.
   *
   * @param number number of the memory server
   * @param segment all of its memory
   * @param layout layout of the memory
   */
  public MemoryServerLink(int number, MemorySegment segment, ServerLayout layout) {
    this.number = number;
    this.segment = segment;
    this.mailbox = segment.asSlice(layout.mailboxOffset(), MailboxLayout.BYTES);
    this.dramBytes = layout.dramBytes();
    this.onChipOffset = layout.onChipOffset();
  }

  /** Declares the memory server lost: every further verb, and every waiting CALL, throws. */
  public void declareLost(String because) {
    lostBecause = because;
  }

  /** Returns whether the memory server was declared lost. */
  public boolean isLost() {
    return lostBecause != null;
  }

  int number() {
    return number;
  }

  long dramBytes() {
    return dramBytes;
  }

  MemorySegment segment() {
    return segment;
  }

  MemorySegment mailbox() {
    return mailbox;
  }

  /** Refuses native calls from now on. */
  void close() {
    closed = true;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("fabric is closed: server=" + number);
    }
  }

  void checkAlive() {
    String because = lostBecause;
    if (because != null) {
      throw new MemoryServerLostException(
          "memory server is lost: server=" + number + ", because=" + because);
    }
  }

  /** Checks that verbs may access the bytes, and returns their position in the segment. */
  long position(long remote, int bytes) {
    checkAlive();
    long offset = remote & OFFSET_MASK;
    if (bytes >= 0 && offset <= dramBytes - bytes) {
      return offset;
    }
    return onChipPosition(remote, bytes);
  }

  /**
   * Checks that verbs may access the bytes and that they are aligned, and returns their position in
   * the segment.
   */
  long alignedPosition(long remote, int bytes) {
    if ((remote & (bytes - 1)) != 0) {
      throw new IllegalArgumentException(
          "misaligned atomic: address=" + GlobalAddress.toString(remote) + ", bytes=" + bytes);
    }
    return position(remote, bytes);
  }

  private long onChipPosition(long remote, int bytes) {
    long offset = GlobalAddress.offset(remote);
    boolean inside =
        GlobalAddress.isOnChip(remote)
            && bytes >= 0
            && offset <= (long) ServerLayout.ON_CHIP_BYTES - bytes;
    if (!inside) {
      throw new InvalidAddressException(
          "outside the memory server: address="
              + GlobalAddress.toString(remote)
              + ", bytes="
              + bytes
              + ", dramBytes="
              + dramBytes
              + ", onChipBytes="
              + ServerLayout.ON_CHIP_BYTES);
    }
    return onChipOffset + offset;
  }
}
