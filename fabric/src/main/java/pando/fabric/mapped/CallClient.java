package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import pando.fabric.Backoff;
import pando.fabric.SpinBackoff;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.base.Owner;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;
import pando.fabric.server.CallWaiters;

/**
 * One worker's side of the mailboxes. A slot is claimed for one CALL and freed after it, so workers
 * share the slots; the slot used last is tried first, as it is mostly still free.
 */
final class CallClient {
  private static final long CALL_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);
  private static final long CLAIM_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);
  private static final int NONE = -1;

  /**
   * Attempts to claim a free slot between two searches for dead owners, which need system calls.
   */
  private static final int DEAD_PERIOD = 64;

  /** Number of workers so far: gives each a different slot to try first. */
  private static final AtomicInteger WORKERS = new AtomicInteger();

  private final MappedWorker worker;
  private final long owner = Owner.self();

  /** For each memory server, the slot used last. */
  private final int[] slots;

  CallClient(MappedWorker worker, int memoryServers) {
    this.worker = worker;
    this.slots = new int[memoryServers];
    int first =
        Math.floorMod(Long.hashCode(owner) + WORKERS.getAndIncrement(), MailboxLayout.SLOTS);
    Arrays.fill(slots, first);
  }

  /** Sends a request and waits; returns the length of the response. */
  int call(MemoryServerLink link, int function, long message, int requestBytes) {
    link.checkUsable();
    MemorySegment mailbox = link.mailbox();
    int slot = claim(link);
    try {
      post(mailbox, slot, function, message, requestBytes);
      link.wake();
      await(link, slot, function);
      return takeResponse(link, slot, function, message);
    } finally {
      if (settle(mailbox, slot)) {
        free(mailbox, slot);
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
      link.checkUsable();
      if (worker.nanoTime() - deadline > 0) {
        giveUp(link, slot, function);
      }
      pause(link, slot, attempt);
    }
  }

  /**
   * Waits: for a processor of this process by resting until it answers, if it does not do so at
   * once. In a lane, and for another process, as the worker waits otherwise.
   */
  private void pause(MemoryServerLink link, int slot, int attempt) {
    CallWaiters waiters = link.waiters();
    if (waiters == null
        || attempt < Backoff.SPINNING_ATTEMPTS
        || !(worker.backoff() instanceof SpinBackoff)
        || Thread.currentThread().isInterrupted()) {
      worker.backoff().pause(attempt);
      return;
    }
    waiters.enter(slot);
    try {
      if (isUnderWay(link, slot)) {
        waiters.rest();
      }
    } finally {
      waiters.leave(slot);
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
    if (isUnderWay(link, slot)) {
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
      throw CallFailedException.of(link.number(), function, reason);
    }
    MemorySegment.copy(
        mailbox, start + MailboxLayout.MESSAGE_OFFSET, worker.memory(), message, length);
    return (int) length;
  }

  private static String text(MemorySegment mailbox, long offset, int length) {
    byte[] bytes = new byte[length];
    MemorySegment.copy(mailbox, ValueLayout.JAVA_BYTE, offset, bytes, 0, length);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * Claims a slot: the one used last, else another free one, else one whose process is dead; waits
   * if there is none.
   */
  private int claim(MemoryServerLink link) {
    int last = slots[link.number()];
    if (claimFree(link.mailbox(), last)) {
      return last;
    }
    int slot = claimOther(link, last);
    slots[link.number()] = slot;
    return slot;
  }

  private int claimOther(MemoryServerLink link, int last) {
    long deadline = worker.nanoTime() + CLAIM_NANOS_MAX;
    for (int attempt = 0; ; attempt++) {
      int slot = claimNextFree(link.mailbox(), last);
      if (slot == NONE && attempt % DEAD_PERIOD == 0) {
        slot = claimDead(link.mailbox());
      }
      if (slot != NONE) {
        return slot;
      }
      link.checkUsable();
      if (worker.nanoTime() - deadline > 0) {
        throw new StalledException(
            "all CALL slots are in use by live processes: server="
                + link.number()
                + ", slots="
                + MailboxLayout.SLOTS
                + ", waitedNanos="
                + CLAIM_NANOS_MAX);
      }
      worker.backoff().pause(attempt);
    }
  }

  private int claimNextFree(MemorySegment mailbox, int last) {
    for (int i = 1; i <= MailboxLayout.SLOTS; i++) {
      int slot = (last + i) % MailboxLayout.SLOTS;
      if (claimFree(mailbox, slot)) {
        return slot;
      }
    }
    return NONE;
  }

  private boolean claimFree(MemorySegment mailbox, int slot) {
    if (!claim(mailbox, slot, MailboxLayout.FREE)) {
      return false;
    }
    if (isAbandoned(mailbox, slot)) {
      free(mailbox, slot);
      return false;
    }
    return true;
  }

  private boolean claim(MemorySegment mailbox, int slot, long from) {
    long offset = MailboxLayout.slot(slot) + MailboxLayout.OWNER_OFFSET;
    return Words.getAcquire(mailbox, offset) == from
        && Words.compareAndSet(mailbox, offset, from, owner);
  }

  private int claimDead(MemorySegment mailbox) {
    long known = owner;
    for (int slot = 0; slot < MailboxLayout.SLOTS; slot++) {
      long other = Words.getAcquire(mailbox, MailboxLayout.slot(slot) + MailboxLayout.OWNER_OFFSET);
      if (other == known || Owner.isAlive(other)) {
        // Consecutive slots of one process need only one check.
        known = other;
      } else if (!isAbandoned(mailbox, slot)
          && claim(mailbox, slot, other)
          && settle(mailbox, slot)) {
        return slot;
      }
    }
    return NONE;
  }

  private static boolean isAbandoned(MemorySegment mailbox, int slot) {
    long offset = MailboxLayout.slot(slot) + MailboxLayout.STATE_OFFSET;
    return Words.getAcquire(mailbox, offset) == MailboxLayout.ABANDONED;
  }

  /**
   * Makes a slot IDLE again after its CALL was answered, its caller failed or its process died.
   *
   * @return whether it is IDLE; if not, a processor still serves the CALL and will free the slot
   */
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
