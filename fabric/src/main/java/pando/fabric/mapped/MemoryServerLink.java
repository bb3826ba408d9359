package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.MemoryServerLostException;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.layout.Regions;
import pando.fabric.layout.ServerLayout;
import pando.fabric.server.CallWaiters;
import pando.fabric.server.MemoryServer;

/** A compute server's view of one memory server: its mapped memory, and whether it is lost. */
public final class MemoryServerLink {
  private final int number;
  private final MemorySegment segment;
  private final MemorySegment mailbox;
  private final long dramBytes;
  private volatile @Nullable String lostBecause;
  private volatile boolean closed;

  /** Whether it is lost or closed. */
  private volatile boolean unusable;

  private final @Nullable MemoryServer here;

  /**
   * Connects to a memory server.
   *
   * @param number number of the memory server
   * @param segment all of its memory
   * @param layout layout of the memory
   * @param here the memory server if it is in this process
   */
  public MemoryServerLink(
      int number, MemorySegment segment, ServerLayout layout, @Nullable MemoryServer here) {
    this.here = here;
    this.number = number;
    this.segment = segment;
    this.mailbox = segment.asSlice(layout.mailboxOffset(), MailboxLayout.BYTES);
    this.dramBytes = layout.dramBytes();
  }

  /** Declares the memory server lost: every further verb, and every waiting CALL, throws. */
  public void declareLost(String because) {
    lostBecause = because;
    unusable = true;
  }

  /** Returns whether the memory server was declared lost. */
  public boolean isLost() {
    return lostBecause != null;
  }

  /** Wakes the memory server after a CALL was posted, if it is in this process. */
  void wake() {
    if (here != null) {
      here.wake();
    }
  }

  /** Returns the threads that wait for its answers; {@code null} if it is in another process. */
  @Nullable CallWaiters waiters() {
    return here == null ? null : here.waiters();
  }

  /** Returns the number of the memory server. */
  public int number() {
    return number;
  }

  /** Returns its bytes of DRAM. */
  public long dramBytes() {
    return dramBytes;
  }

  MemorySegment segment() {
    return segment;
  }

  MemorySegment mailbox() {
    return mailbox;
  }

  /** Refuses verbs from now on. */
  public void close() {
    closed = true;
    unusable = true;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("fabric is closed: server=" + number);
    }
  }

  /** Returns whether it is neither closed nor lost. */
  boolean isUsable() {
    return !unusable;
  }

  /** Checks that it is neither closed nor lost. */
  void checkUsable() {
    if (unusable) {
      checkOpen();
      throw new MemoryServerLostException(
          "memory server is lost: server=" + number + ", because=" + lostBecause);
    }
  }

  /** Checks that verbs may access the bytes, and returns their position in the segment. */
  long position(long remote, int bytes) {
    checkUsable();
    return Regions.position(dramBytes, remote, bytes);
  }

  /**
   * Checks that verbs may access the bytes and that they are aligned, and returns their position in
   * the segment.
   */
  long alignedPosition(long remote, int bytes) {
    Regions.checkAligned(remote, bytes);
    return position(remote, bytes);
  }
}
