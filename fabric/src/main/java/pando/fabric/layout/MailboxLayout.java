package pando.fabric.layout;

import pando.fabric.Worker;

/**
 * The mailbox that CALLs go through. Offsets are from its start.
 *
 * <pre>
 *     0  magic            the bytes "PANDO-M1"
 *     8  incarnation      differs each time a memory server starts
 *    16  server           number of the memory server
 *    24  dramBytes
 *    32  chunkBytes
 *   128  pending          {@value #SLOTS} bits: slot i waits for a processor, perhaps
 *  4096  slot 0           {@value #SLOT_BYTES} bytes
 *  8192  slot 1
 *        ...
 *
 *  slot:
 *     0  owner            0, or the process that claimed the slot for a CALL, see {@code Owner}
 *     8  state            one of those below
 *    16  function         which service; in an answer, unchanged
 *    24  length           bytes of the message
 *    64  message          {@value pando.fabric.Worker#CALL_BYTES_MAX} bytes
 * </pre>
 *
 * <p>The states of a slot, and which side moves it on. A pending bit is only a hint where to look:
 * the processor that moves a slot from POSTED to TAKEN serves it, and a bit left behind by a client
 * that died is harmless.
 *
 * <pre>
 *            client             processor           processor
 *     IDLE ---------> POSTED ------------> TAKEN -------------> ANSWERED or FAILED
 *      ^                 | client gives up   | client gives up       | client
 *      +-----------------+                   v                       |
 *      +-------------------------------- ABANDONED                   |
 *      |            processor, which frees the slot first            |
 *      +-------------------------------------------------------------+
 * </pre>
 *
 * <p>The owner and the state are two words, and yet no slot has two users. A client frees its slot
 * once it is IDLE. An ABANDONED slot belongs to the processor, which frees it and makes it IDLE
 * afterwards: a client that claims it in between sees ABANDONED, and frees it again. The slot of a
 * dead process is claimed from it if its state is another. It cannot become ABANDONED then, as only
 * its owner could make it so; and it was not before, or it would be free by now and the claim would
 * fail. So no processor frees it under its new owner.
 */
public final class MailboxLayout {
  /** Number of slots: CALLs that can wait or be served at the same time. */
  public static final int SLOTS = 1024;

  /** Number of words of the pending bits. */
  public static final int PENDING_WORDS = SLOTS / Long.SIZE;

  /** The bytes "PANDO-M1". */
  public static final long MAGIC = 0x314d_2d4f_444e_4150L;

  /** Offset of {@link #MAGIC}. */
  public static final long MAGIC_OFFSET = 0;

  /** Offset of the incarnation. */
  public static final long INCARNATION_OFFSET = 8;

  /** Offset of the number of the memory server. */
  public static final long SERVER_OFFSET = 16;

  /** Offset of the size of DRAM. */
  public static final long DRAM_BYTES_OFFSET = 24;

  /** Offset of the size of a chunk. */
  public static final long CHUNK_BYTES_OFFSET = 32;

  private static final long PENDING_OFFSET = 128;
  private static final long SLOTS_OFFSET = 4096;

  /** Offset of the owner within a slot. */
  public static final long OWNER_OFFSET = 0;

  /** Offset of the state within a slot. */
  public static final long STATE_OFFSET = 8;

  /** Offset of the function number within a slot. */
  public static final long FUNCTION_OFFSET = 16;

  /** Offset of the message's length within a slot. */
  public static final long LENGTH_OFFSET = 24;

  /** Offset of the message within a slot. */
  public static final long MESSAGE_OFFSET = 64;

  static final long SLOT_BYTES = MESSAGE_OFFSET + Worker.CALL_BYTES_MAX;

  /** Bytes of the mailbox. */
  public static final long BYTES = SLOTS_OFFSET + SLOTS * SLOT_BYTES;

  /** Owner of a slot that is free. */
  public static final long FREE = 0;

  /** The owner may fill in a request. */
  public static final long IDLE = 0;

  /** A request is complete and waits for a processor. */
  public static final long POSTED = 1;

  /** A processor serves the request. */
  public static final long TAKEN = 2;

  /** The message is the response. */
  public static final long ANSWERED = 3;

  /** The request could not be served; the message is the reason in UTF-8. */
  public static final long FAILED = 4;

  /** The client no longer waits for what a processor serves. */
  public static final long ABANDONED = 5;

  static {
    assert SLOT_BYTES == 4096;
    assert PENDING_OFFSET + PENDING_WORDS * Long.BYTES <= SLOTS_OFFSET;
    assert LENGTH_OFFSET + Long.BYTES <= MESSAGE_OFFSET;
  }

  private MailboxLayout() {}

  /** Returns the offset of a word of the pending bits. */
  public static long pending(int word) {
    return PENDING_OFFSET + (long) word * Long.BYTES;
  }

  /** Returns the offset of a slot. */
  public static long slot(int slot) {
    return SLOTS_OFFSET + slot * SLOT_BYTES;
  }
}
