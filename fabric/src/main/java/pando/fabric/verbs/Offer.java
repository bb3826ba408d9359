package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import pando.fabric.layout.Regions;
import pando.fabric.memory.Words;

/**
 * What the two sides of a connection send each other by {@link pando.fabric.wire.CardAccess}. All
 * fields are 8 bytes.
 *
 * <pre>
 *   0  queue pair, first packet, MTU, READs served at a time, LID, GID (2 fields)
 *  56  address and remote key of DRAM, behind which the on-chip region is
 * </pre>
 *
 * <p>From 56 on in the response alone.
 *
 * @param endpoint of the side that sends it
 * @param dram where DRAM is
 */
record Offer(Endpoint endpoint, Place dram) {
  static final int REQUEST_BYTES = 7 * Long.BYTES;
  static final int RESPONSE_BYTES = 9 * Long.BYTES;

  private static final int ADDRESS = REQUEST_BYTES;
  private static final int KEY = ADDRESS + Long.BYTES;

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
    return dram.address + Regions.position(dramBytes, remote, bytes);
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
    Words.set(message, ADDRESS, dram.address);
    Words.set(message, KEY, Integer.toUnsignedLong(dram.key));
  }

  /** Reads a response. */
  static Offer read(MemorySegment message) {
    return new Offer(
        endpoint(message), new Place(Words.get(message, ADDRESS), (int) Words.get(message, KEY)));
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
