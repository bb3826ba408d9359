package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.layout.Regions;
import pando.fabric.memory.Words;

/**
 * What the two sides of a connection send each other by {@link pando.fabric.wire.CardAccess}. All
 * fields are 8 bytes.
 *
 * <pre>
 *   0  queue pair, first packet, MTU, READs served at a time, LID, GID (2 fields)
 *  56  address and remote key of DRAM, of the on-chip region, and of the scratch line
 * 104  where the on-chip region is: 0 in host memory; 1 on the card, and of the
 *      masked atomics that work there: 2 CAS, 4 FAA, 8 16-byte CAS
 * </pre>
 *
 * <p>From 56 on in the response alone.
 *
 * @param endpoint of the side that sends it
 * @param dram where DRAM is
 * @param onChip where the on-chip region is
 * @param scratch 64 bytes, for this client to try what the cards can do
 * @param onCard what works on the on-chip region if it is on the card; {@code null} if it is not
 */
record Offer(Endpoint endpoint, Place dram, Place onChip, Place scratch, @Nullable Atomics onCard) {
  static final int REQUEST_BYTES = 7 * Long.BYTES;
  static final int RESPONSE_BYTES = 14 * Long.BYTES;

  /** Bytes of the scratch line. */
  static final int SCRATCH_BYTES = 64;

  private static final int ON_CARD = 1;
  private static final int WITH_CAS = 2;
  private static final int WITH_FAA = 4;
  private static final int WITH_CAS_16 = 8;

  private static final int PACKET_BITS = 24;
  private static final int MTU_MAX = 5;
  private static final int READS_MAX = 255;

  /**
   * Memory that verbs reach.
   *
   * @param address of its first byte
   * @param key that verbs need
   */
  record Place(long address, int key) {}

  /**
   * Returns where bytes of the pool are.
   *
   * @param dramBytes bytes of the memory server's DRAM
   * @throws pando.fabric.InvalidAddressException if the memory server does not have all of them
   */
  long address(long dramBytes, long remote, int bytes) {
    long position = Regions.position(dramBytes, remote, bytes);
    return GlobalAddress.isOnChip(remote)
        ? onChip.address + position - dramBytes
        : dram.address + position;
  }

  /** Returns the key for bytes of the pool. */
  int key(long remote) {
    return GlobalAddress.isOnChip(remote) ? onChip.key : dram.key;
  }

  /** Writes the endpoint of the side that asks. */
  static void ask(Endpoint endpoint, MemorySegment message) {
    Gid gid = endpoint.gid();
    long[] fields = {
      endpoint.queuePair(),
      endpoint.packet(),
      endpoint.mtu(),
      endpoint.readsMax(),
      endpoint.lid(),
      gid.high(),
      gid.low()
    };
    for (int i = 0; i < fields.length; i++) {
      Words.set(message, (long) i * Long.BYTES, fields[i]);
    }
  }

  /**
   * Reads an endpoint.
   *
   * @throws IllegalArgumentException if there is none like it
   */
  static Endpoint endpoint(MemorySegment message) {
    return new Endpoint(
        field(message, 0, 1, (1 << PACKET_BITS) - 1),
        field(message, 1, 0, (1 << PACKET_BITS) - 1),
        field(message, 2, 1, MTU_MAX),
        field(message, 3, 0, READS_MAX),
        field(message, 4, 0, 0xffff),
        new Gid(0, Words.get(message, 5 * Long.BYTES), Words.get(message, 6 * Long.BYTES)));
  }

  /** Writes it as the response. */
  void write(MemorySegment message) {
    ask(endpoint, message);
    write(message, 7, dram);
    write(message, 9, onChip);
    write(message, 11, scratch);
    Words.set(message, 13 * Long.BYTES, onCard == null ? 0 : ON_CARD | flags(onCard));
  }

  private static void write(MemorySegment message, int index, Place place) {
    Words.set(message, (long) index * Long.BYTES, place.address);
    Words.set(message, (index + 1L) * Long.BYTES, Integer.toUnsignedLong(place.key));
  }

  private static int flags(Atomics found) {
    return (found.maskedCas() ? WITH_CAS : 0)
        | (found.maskedFaa() ? WITH_FAA : 0)
        | (found.maskedCas16() ? WITH_CAS_16 : 0);
  }

  /** Reads a response. */
  static Offer read(MemorySegment message) {
    int where = field(message, 13, 0, ON_CARD | WITH_CAS | WITH_FAA | WITH_CAS_16);
    if ((where & ON_CARD) == 0 && where != 0) {
      throw new IllegalArgumentException("atomics of no card's memory: flags=" + where);
    }
    return new Offer(
        endpoint(message),
        place(message, 7),
        place(message, 9),
        place(message, 11),
        (where & ON_CARD) == 0 ? null : atomics(where));
  }

  private static Place place(MemorySegment message, int index) {
    return new Place(
        Words.get(message, (long) index * Long.BYTES),
        (int) Words.get(message, (index + 1L) * Long.BYTES));
  }

  private static Atomics atomics(int flags) {
    return new Atomics(
        (flags & WITH_CAS) != 0, (flags & WITH_FAA) != 0, (flags & WITH_CAS_16) != 0);
  }

  private static int field(MemorySegment message, int index, int least, int most) {
    long value = Words.get(message, (long) index * Long.BYTES);
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "no queue pair is like this: field="
              + index
              + ", value="
              + value
              + ", minimum="
              + least
              + ", maximum="
              + most);
    }
    return (int) value;
  }
}
