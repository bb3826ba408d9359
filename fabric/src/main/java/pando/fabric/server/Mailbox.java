package pando.fabric.server;

import java.lang.foreign.MemorySegment;
import pando.fabric.Worker;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.memory.Utf8;
import pando.fabric.memory.Words;

/**
 * The memory server's side of the mailbox: finds requests, copies them out, and stores responses.
 * Lock free; each request is served once, by the processor that takes it.
 */
final class Mailbox {
  /** Result of {@link #take}: no request waits. */
  static final int NONE = -1;

  private final MemorySegment mailbox;

  Mailbox(MemorySegment mailbox) {
    this.mailbox = mailbox;
  }

  /**
   * Takes a request that waits.
   *
   * @param start word of the pending bits to search first
   * @return the slot, or {@link #NONE}
   */
  int take(int start) {
    for (int i = 0; i < MailboxLayout.PENDING_WORDS; i++) {
      int word = (start + i) % MailboxLayout.PENDING_WORDS;
      long waiting = Words.getAcquire(mailbox, MailboxLayout.pending(word));
      while (waiting != 0) {
        int bit = Long.numberOfTrailingZeros(waiting);
        int slot = word * Long.SIZE + bit;
        waiting &= waiting - 1;
        if (clearPending(word, 1L << bit)
            && transit(slot, MailboxLayout.POSTED, MailboxLayout.TAKEN)) {
          return slot;
        }
      }
    }
    return NONE;
  }

  /** Returns whether a request waits, or has waited a moment ago. */
  boolean hasRequest() {
    long waiting = 0;
    for (int word = 0; word < MailboxLayout.PENDING_WORDS; word++) {
      waiting |= Words.getAcquire(mailbox, MailboxLayout.pending(word));
    }
    return waiting != 0;
  }

  /** Returns the function that a request asks for, as the client wrote it. */
  long function(int slot) {
    return Words.get(mailbox, MailboxLayout.slot(slot) + MailboxLayout.FUNCTION_OFFSET);
  }

  /**
   * Copies a request out, so that the client cannot change it after it was checked.
   *
   * @return its length, or -1 if the length that the client wrote is impossible
   */
  int copyRequest(int slot, MemorySegment message) {
    long start = MailboxLayout.slot(slot);
    long length = Words.get(mailbox, start + MailboxLayout.LENGTH_OFFSET);
    if (length < 0 || length > Worker.CALL_BYTES_MAX) {
      return -1;
    }
    MemorySegment.copy(mailbox, start + MailboxLayout.MESSAGE_OFFSET, message, 0, length);
    return (int) length;
  }

  /** Stores a response. */
  void answer(int slot, MemorySegment message, int responseBytes) {
    respond(slot, message, responseBytes, MailboxLayout.ANSWERED);
  }

  /** Reports why a request was not served. Overwrites the message. */
  void fail(int slot, MemorySegment message, String reason) {
    int length = Utf8.write(reason, message, 0, Worker.CALL_BYTES_MAX);
    respond(slot, message, length, MailboxLayout.FAILED);
  }

  private void respond(int slot, MemorySegment message, int length, long state) {
    long start = MailboxLayout.slot(slot);
    MemorySegment.copy(message, 0, mailbox, start + MailboxLayout.MESSAGE_OFFSET, length);
    Words.set(mailbox, start + MailboxLayout.LENGTH_OFFSET, length);
    if (!transit(slot, MailboxLayout.TAKEN, state)) {
      // The client gave up, so this processor frees the slot. IDLE comes last: until then, nobody
      // uses the slot, or claims it from a dead owner.
      Words.setRelease(mailbox, start + MailboxLayout.OWNER_OFFSET, MailboxLayout.FREE);
      Words.setRelease(mailbox, start + MailboxLayout.STATE_OFFSET, MailboxLayout.IDLE);
    }
  }

  private boolean clearPending(int word, long bit) {
    return (Words.getAndBitwiseAnd(mailbox, MailboxLayout.pending(word), ~bit) & bit) != 0;
  }

  private boolean transit(int slot, long from, long to) {
    long offset = MailboxLayout.slot(slot) + MailboxLayout.STATE_OFFSET;
    return Words.compareAndSet(mailbox, offset, from, to);
  }
}
