package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;

/**
 * One worker's side of the mailboxes. Takes a slot of a memory server's mailbox with the first CALL
 * to it and keeps it until the end.
 */
final class CallClient {
  private static final long CALL_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);
  private static final long CLAIM_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);
  private static final int NONE = -1;

  private final MappedWorker worker;
  private final long owner = Owner.self();
  private final int[] slots;

  CallClient(MappedWorker worker, int memoryServers) {
    this.worker = worker;
    this.slots = new int[memoryServers];
    Arrays.fill(slots, NONE);
  }

  /** Sends a request and waits; returns the length of the response. */
  int call(MemoryServerLink link, int function, long message, int requestBytes) {
    link.checkAlive();
    int slot = slot(link);
    post(link.mailbox(), slot, function, message, requestBytes);
    await(link, slot, function);
    return takeResponse(link, slot, function, message);
  }

  /** Gives the slots back. */
  void close(MemoryServerLink[] links) {
    for (MemoryServerLink link : links) {
      int slot = slots[link.number()];
      slots[link.number()] = NONE;
      if (slot != NONE) {
        try {
          free(link.mailbox(), slot);
        } catch (IllegalStateException fabricIsClosed) {
          return;
        }
      }
    }
  }

  private void post(MemorySegment mailbox, int slot, int function, long message, int requestBytes) {
    long start = MailboxLayout.slot(slot);
    Words.set(mailbox, start + MailboxLayout.FUNCTION_OFFSET, function);
    Words.set(mailbox, start + MailboxLayout.LENGTH_OFFSET, requestBytes);
    MemorySegment.copy(
        worker.memory(), message, mailbox, start + MailboxLayout.MESSAGE_OFFSET, requestBytes);
    Words.setRelease(mailbox, start + MailboxLayout.STATE_OFFSET, MailboxLayout.POSTED);
    Words.getAndBitwiseOr(
        mailbox, MailboxLayout.pending(slot / Long.SIZE), 1L << (slot % Long.SIZE));
  }

  private void await(MemoryServerLink link, int slot, int function) {
    long deadline = worker.nanoTime() + CALL_NANOS_MAX;
    for (int attempt = 0; isUnderWay(link, slot); attempt++) {
      if (link.isLost()) {
        slots[link.number()] = NONE;
        link.checkAlive();
      }
      if (worker.nanoTime() - deadline > 0) {
        giveUp(link, slot, function);
      }
      worker.backoff().pause(attempt);
    }
  }

  private static boolean isUnderWay(MemoryServerLink link, int slot) {
    long state =
        Words.getAcquire(link.mailbox(), MailboxLayout.slot(slot) + MailboxLayout.STATE_OFFSET);
    return state == MailboxLayout.POSTED || state == MailboxLayout.TAKEN;
  }

  private void giveUp(MemoryServerLink link, int slot, int function) {
    String what =
        ": server=" + link.number() + ", function=" + function + ", waitedNanos=" + CALL_NANOS_MAX;
    if (transit(link.mailbox(), slot, MailboxLayout.POSTED, MailboxLayout.IDLE)) {
      throw new StalledException("no processor took the CALL" + what);
    }
    if (transit(link.mailbox(), slot, MailboxLayout.TAKEN, MailboxLayout.ABANDONED)) {
      slots[link.number()] = NONE;
      throw new UnknownOutcomeException("CALL was taken and not answered" + what);
    }
  }

  private int takeResponse(MemoryServerLink link, int slot, int function, long message) {
    MemorySegment mailbox = link.mailbox();
    long start = MailboxLayout.slot(slot);
    long state = Words.getAcquire(mailbox, start + MailboxLayout.STATE_OFFSET);
    long length = Words.get(mailbox, start + MailboxLayout.LENGTH_OFFSET);
    boolean valid = length >= 0 && length <= Worker.CALL_BYTES_MAX;
    if (state != MailboxLayout.ANSWERED || !valid) {
      String reason =
          state == MailboxLayout.FAILED && valid
              ? text(mailbox, start + MailboxLayout.MESSAGE_OFFSET, (int) length)
              : "damaged response: state=" + state + ", length=" + length;
      Words.setRelease(mailbox, start + MailboxLayout.STATE_OFFSET, MailboxLayout.IDLE);
      throw CallFailedException.of(link.number(), function, reason);
    }
    MemorySegment.copy(
        mailbox, start + MailboxLayout.MESSAGE_OFFSET, worker.memory(), message, length);
    Words.setRelease(mailbox, start + MailboxLayout.STATE_OFFSET, MailboxLayout.IDLE);
    return (int) length;
  }

  private static String text(MemorySegment mailbox, long offset, int length) {
    byte[] bytes = new byte[length];
    MemorySegment.copy(mailbox, ValueLayout.JAVA_BYTE, offset, bytes, 0, length);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private int slot(MemoryServerLink link) {
    int slot = slots[link.number()];
    if (slot == NONE) {
      slot = claim(link);
      slots[link.number()] = slot;
    }
    return slot;
  }

  /** Claims a slot: a free one, else one whose process is dead, else waits. */
  private int claim(MemoryServerLink link) {
    long deadline = worker.nanoTime() + CLAIM_NANOS_MAX;
    for (int attempt = 0; ; attempt++) {
      int slot = claimFree(link.mailbox());
      if (slot == NONE) {
        slot = claimDead(link.mailbox());
      }
      if (slot != NONE) {
        return slot;
      }
      link.checkAlive();
      if (worker.nanoTime() - deadline > 0) {
        throw new StalledException(
            "all CALL slots are in use by live workers: server="
                + link.number()
                + ", slots="
                + MailboxLayout.SLOTS
                + ", waitedNanos="
                + CLAIM_NANOS_MAX);
      }
      worker.backoff().pause(attempt);
    }
  }

  private int claimFree(MemorySegment mailbox) {
    for (int slot = 0; slot < MailboxLayout.SLOTS; slot++) {
      long offset = MailboxLayout.slot(slot) + MailboxLayout.OWNER_OFFSET;
      if (Words.getAcquire(mailbox, offset) == MailboxLayout.FREE
          && Words.compareAndSet(mailbox, offset, MailboxLayout.FREE, owner)) {
        return slot;
      }
    }
    return NONE;
  }

  private int claimDead(MemorySegment mailbox) {
    long known = owner;
    for (int slot = 0; slot < MailboxLayout.SLOTS; slot++) {
      long offset = MailboxLayout.slot(slot) + MailboxLayout.OWNER_OFFSET;
      long other = Words.getAcquire(mailbox, offset);
      if (other == known || Owner.isAlive(other)) {
        // Slots of one process mostly lie together; asking once for them all is enough.
        known = other;
      } else if (Words.compareAndSet(mailbox, offset, other, owner) && settle(mailbox, slot)) {
        return slot;
      }
    }
    return NONE;
  }

  /** Brings the slot of a dead process to rest. Tells whether it is at rest, and so of use. */
  private static boolean settle(MemorySegment mailbox, int slot) {
    long offset = MailboxLayout.slot(slot) + MailboxLayout.STATE_OFFSET;
    while (true) {
      long state = Words.getAcquire(mailbox, offset);
      boolean taken = state == MailboxLayout.TAKEN;
      if (state == MailboxLayout.ABANDONED) {
        return false;
      }
      if (transit(mailbox, slot, state, taken ? MailboxLayout.ABANDONED : MailboxLayout.IDLE)) {
        return !taken;
      }
    }
  }

  private static void free(MemorySegment mailbox, int slot) {
    long start = MailboxLayout.slot(slot);
    Words.setRelease(mailbox, start + MailboxLayout.OWNER_OFFSET, MailboxLayout.FREE);
  }

  private static boolean transit(MemorySegment mailbox, int slot, long from, long to) {
    return Words.compareAndSet(
        mailbox, MailboxLayout.slot(slot) + MailboxLayout.STATE_OFFSET, from, to);
  }
}
