package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvRecvWr;
import pando.fabric.verbs.Abi.IbvSge;

/** Room for one message, as the library takes it. Filled again and again. Not thread-safe. */
final class ReceiveRequest implements AutoCloseable {
  private static final int REFUSED = IbvRecvWr.BYTES + IbvSge.BYTES;

  private final NativeMemory memory = NativeMemory.allocate(REFUSED + Long.BYTES);
  private final MemorySegment bytes = memory.segment();

  ReceiveRequest() {
    bytes.set(ValueLayout.JAVA_LONG, IbvRecvWr.SG_LIST, bytes.address() + IbvRecvWr.BYTES);
    bytes.set(ValueLayout.JAVA_INT, IbvRecvWr.NUM_SGE, 1);
  }

  /**
   * Says where the message goes.
   *
   * @param length of the longest message
   */
  void set(long local, int localKey, int length) {
    bytes.set(ValueLayout.JAVA_LONG, IbvRecvWr.BYTES + IbvSge.ADDR, local);
    bytes.set(ValueLayout.JAVA_INT, IbvRecvWr.BYTES + IbvSge.LENGTH, length);
    bytes.set(ValueLayout.JAVA_INT, IbvRecvWr.BYTES + IbvSge.LKEY, localKey);
  }

  /**
   * Posts it.
   *
   * @param function of the card that takes it
   * @param queue queue pair, or shared receive queue
   * @param number that its completion has
   */
  void post(MemorySegment function, long queue, long number) {
    bytes.set(ValueLayout.JAVA_LONG, IbvRecvWr.WR_ID, number);
    long address = bytes.address();
    int result = Libibverbs.call(function, queue, address, address + REFUSED);
    if (result != 0) {
      throw new IllegalStateException("the card takes no room for a message: error=" + result);
    }
  }

  @Override
  public void close() {
    memory.close();
  }
}
