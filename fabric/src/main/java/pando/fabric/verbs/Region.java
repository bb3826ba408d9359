package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvMr;

/**
 * Memory that is registered with a card.
 *
 * @param address of its first byte
 * @param localKey names it in verbs of this side
 * @param remoteKey names it in verbs of others
 */
record Region(Libibverbs library, long region, long address, int localKey, int remoteKey)
    implements AutoCloseable {
  /**
   * Returns memory that the library has registered.
   *
   * @param region by what the library names it
   * @param address of its first byte, in verbs
   */
  static Region of(Libibverbs library, long region, long address) {
    MemorySegment fields = NativeMemory.at(region, IbvMr.RKEY + Integer.BYTES);
    return new Region(
        library,
        region,
        address,
        fields.get(ValueLayout.JAVA_INT, IbvMr.LKEY),
        fields.get(ValueLayout.JAVA_INT, IbvMr.RKEY));
  }

  /** Returns where its first byte is, for verbs of others. */
  Offer.Place place() {
    return new Offer.Place(address, remoteKey);
  }

  @Override
  public void close() {
    library.deregister(region);
  }
}
