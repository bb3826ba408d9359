package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeFunction;
import pando.fabric.memory.NativeLibrary;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvCompChannel;

/** By which one thread waits for the completions of one queue. */
final class CompletionChannel implements AutoCloseable {
  private static final String C_LIBRARY = "libc.so.6";

  /** A {@code pollfd}: the file, what is waited for (2 bytes), what has come (2 bytes). */
  private static final int POLL_BYTES = 8;

  private static final int EVENTS = 4;
  private static final short READABLE = 1;

  /** Behind it, room for what the library writes of an event. */
  private static final int BYTES = POLL_BYTES + 2 * Long.BYTES;

  private final Libibverbs library;
  private final NativeFunction poll;
  private final NativeMemory memory;
  private final long channel;

  CompletionChannel(Device device) {
    this.library = device.library();
    this.poll =
        NativeLibrary.load(C_LIBRARY)
            .orElseThrow(() -> new VerbsException("no C library: name=" + C_LIBRARY))
            .function("poll", int.class);
    this.memory = NativeMemory.allocate(BYTES);
    try {
      this.channel = library.createChannel(device.context());
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
    int file =
        NativeMemory.at(channel, IbvCompChannel.FD + Integer.BYTES)
            .get(ValueLayout.JAVA_INT, IbvCompChannel.FD);
    memory.segment().set(ValueLayout.JAVA_INT, 0, file);
    memory.segment().set(ValueLayout.JAVA_SHORT, EVENTS, READABLE);
  }

  /** Returns the address by which the library names it. */
  long address() {
    return channel;
  }

  /**
   * Waits until its queue has a completion, if that was asked for, or a time has passed.
   *
   * @param queue whose channel it is
   */
  void await(CompletionQueue queue, int millis) {
    MemorySegment bytes = memory.segment();
    if (poll.invoke(bytes.address(), 1, millis).value() == 1) {
      long room = bytes.address() + POLL_BYTES;
      library.takeEvent(channel, room, room + Long.BYTES, queue.address());
    }
  }

  @Override
  public void close() {
    Closing.all(() -> library.destroyChannel(channel), memory::close);
  }
}
