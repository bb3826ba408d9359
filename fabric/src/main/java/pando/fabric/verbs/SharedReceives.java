package pando.fabric.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.Worker;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.verbs.Abi.IbvSrqInitAttr;

/** Room for messages of all clients of a memory server. Thread-safe. */
final class SharedReceives implements AutoCloseable {
  /** Messages that have come and were not taken, at most; senders wait then. */
  static final int MESSAGES_MAX = 1024;

  /** So that messages begin at lines. */
  private static final int STRIDE = Worker.CALL_BYTES_MAX + 64;

  private final Device device;
  private final NativeMemory memory;
  private final Region region;
  private final ReceiveRequest request = new ReceiveRequest();
  private final long queue;

  /** Gives everything back, what was made last first. */
  private final List<Runnable> ends = new ArrayList<>();

  SharedReceives(Device device) {
    this.device = device;
    ends.addFirst(request::close);
    try {
      memory = NativeMemory.allocate((long) MESSAGES_MAX * STRIDE);
      ends.addFirst(memory::close);
      region = device.register(memory.segment(), IbvMr.LOCAL_WRITE);
      ends.addFirst(region::close);
      queue = create(device);
      ends.addFirst(() -> device.library().destroySharedReceives(queue));
      for (int i = 0; i < MESSAGES_MAX; i++) {
        post(i);
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private static long create(Device device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(IbvSrqInitAttr.BYTES, Long.BYTES);
      attributes.set(ValueLayout.JAVA_INT, IbvSrqInitAttr.MAX_WR, MESSAGES_MAX);
      attributes.set(ValueLayout.JAVA_INT, IbvSrqInitAttr.MAX_SGE, 1);
      return device.library().createSharedReceives(device.domain(), attributes);
    }
  }

  /** Returns the address by which the library names it. */
  long address() {
    return queue;
  }

  /** Returns a message that has come. */
  MemorySegment message(int number, int bytes) {
    return memory.segment().asSlice((long) number * STRIDE, bytes);
  }

  /** Gives the room of a message back, for another one. */
  synchronized void post(int number) {
    long address = memory.segment().address() + (long) number * STRIDE;
    request.set(address, region.localKey(), Worker.CALL_BYTES_MAX);
    request.post(device.postSharedReceiveFunction(), queue, number);
  }

  /** No queue pair uses it any more. In order, and none if one before it failed. */
  @Override
  public void close() {
    ends.forEach(Runnable::run);
  }
}
