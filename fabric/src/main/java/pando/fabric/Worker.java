package pando.fabric;

import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/**
 * Issues verbs for one thread, in blocking style: each call returns when its effect is complete.
 *
 * <p>Remote bytes are named by {@linkplain GlobalAddress global addresses}, local bytes by offsets
 * in the worker's {@linkplain #memory() registered memory}; no verb allocates. Lengths are in
 * bytes. Remote bytes outside their region throw {@link InvalidAddressException}; local bytes
 * outside the registered memory throw {@link IndexOutOfBoundsException}; a dead memory server
 * throws {@link MemoryServerLostException}. READs alone, one or a list, never end in {@link
 * UnknownOutcomeException}. Atomics need addresses aligned to their width.
 *
 * <p>Not thread-safe: one worker, one thread.
 */
public interface Worker extends AutoCloseable {
  /** Maximum size of a CALL's message in bytes. */
  int CALL_BYTES_MAX = 4032;

  /** Returns the registered memory that local offsets point into. */
  MemorySegment memory();

  /** READ: copies remote bytes into local memory. */
  void read(long remote, long local, int bytes);

  /**
   * READ without the copy: says where remote bytes are, if they are mapped into this process and
   * the compute server cannot be fenced. It counts as a READ, but not as a trip, and throws what a
   * READ throws. The caller looks at the bytes at once, as often as it likes; each look may find
   * others. Later reads may overtake a look, unless the caller has a fence between them.
   *
   * @return {@code false} if they have to be copied by a {@link #read}
   */
  default boolean view(long remote, int bytes, PoolView view) {
    return false;
  }

  /**
   * Has the processor fetch remote bytes that are READ soon, where a {@link #view} would be given;
   * does nothing elsewhere. It is no verb.
   *
   * @return what was read, which means nothing: to be kept, so that the read is not left out
   */
  default long touch(long remote, int bytes) {
    return 0;
  }

  /** WRITE: copies local bytes into remote memory. */
  void write(long remote, long local, int bytes);

  /**
   * CAS: stores {@code desired} if the 8 bytes equal {@code expected}.
   *
   * @return the value found; it equals {@code expected} exactly if the store took place
   */
  long cas(long remote, long expected, long desired);

  /**
   * FAA: adds to the 8 bytes.
   *
   * @return the value before
   */
  long faa(long remote, long addend);

  /**
   * Masked CAS: where the bits under {@code compareMask} equal those of {@code compare}, replaces
   * the bits under {@code swapMask} by those of {@code swap}.
   *
   * @return the value found; the store took place exactly if {@code ((found ^ compare) &
   *     compareMask) == 0}
   */
  long maskedCas(long remote, long compare, long compareMask, long swap, long swapMask);

  /**
   * Masked FAA: adds field by field, without a carry from one field into the next.
   *
   * @param boundaries has the highest bit of each field set; 0 means one field of 64 bits
   * @return the value before
   */
  long maskedFaa(long remote, long addend, long boundaries);

  /**
   * 16-byte masked CAS on 16 aligned bytes.
   *
   * @param operands local offset, 16-byte aligned, of five 16-byte operands in a row: compare,
   *     compare mask, swap, swap mask, and room for the value found
   * @return whether the store took place
   * @throws UnsupportedOperationException if this fabric has none: see {@link Capabilities#cas16}
   */
  boolean maskedCas16(long remote, long operands);

  /**
   * Doorbell list: posts verbs to one memory server at once; they take effect in order, in one
   * round trip. A WRITE or an atomic behind a READ takes effect after the READ is answered, which
   * may take a card a further round trip. After an exception {@link VerbList#outcome} says what
   * became of each verb.
   *
   * @throws IllegalArgumentException if the list names more than one memory server
   */
  void post(VerbList list);

  /**
   * Scatter: posts independent verbs, to any memory servers, and waits until all are complete.
   * After an exception {@link VerbList#outcome} says what became of each verb.
   */
  void scatter(VerbList list);

  /**
   * CALL: sends a request to one of a memory server's few processor threads and waits for the
   * response, which replaces the request in place.
   *
   * @param server memory server
   * @param function number of the service, see {@link pando.fabric.server.CallHandler}
   * @param message local offset of {@link #CALL_BYTES_MAX} bytes that hold the request
   * @param requestBytes length of the request, at most {@link #CALL_BYTES_MAX}
   * @return length of the response in bytes
   */
  int call(int server, int function, long message, int requestBytes);

  /** Returns the counts of the verbs that this worker has issued. */
  VerbCounters counters();

  /** Returns how this worker waits. */
  Backoff backoff();

  /** Returns this worker's clock, in nanoseconds from an arbitrary start. */
  long nanoTime();

  /** Returns this worker's source of randomness. */
  RandomGenerator random();

  /** Closes the worker. Its counters stay readable. */
  @Override
  void close();
}
