package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvWc;

/** Where the verbs of queue pairs complete. One thread at a time polls and reads it. */
final class CompletionQueue implements AutoCloseable {
  /** Of a message's 4 bytes beside the data. */
  static final ValueLayout.OfInt IMMEDIATE = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

  /** Completions that a poll takes at most. */
  static final int BATCH = 16;

  private final Libibverbs library;
  private final MemorySegment pollFunction;
  private final MemorySegment askFunction;
  private final long queue;
  private final NativeMemory batch;
  private final MemorySegment completions;

  /**
   * Creates it.
   *
   * @param entries completions that are not polled yet, at most
   */
  CompletionQueue(Device device, int entries) {
    this(device, entries, null);
  }

  /**
   * Creates it with a channel, by which a thread can wait for completions.
   *
   * @param channel of this queue alone, closed after it
   */
  CompletionQueue(Device device, int entries, @Nullable CompletionChannel channel) {
    this.library = device.library();
    this.pollFunction = device.pollFunction();
    this.askFunction = device.askFunction();
    this.batch = NativeMemory.allocate((long) BATCH * IbvWc.BYTES);
    this.completions = batch.segment();
    try {
      this.queue =
          library.createCompletionQueue(
              device.context(), entries, channel == null ? 0 : channel.address());
    } catch (RuntimeException | Error e) {
      batch.close();
      throw e;
    }
  }

  /** Returns the address by which the library names it. */
  long address() {
    return queue;
  }

  /**
   * Takes completions.
   *
   * @return how many; they stay readable until the next poll
   */
  int poll() {
    int count = Libibverbs.call(pollFunction, queue, BATCH, completions.address());
    if (count < 0) {
      throw new VerbsException("completions cannot be polled: result=" + count);
    }
    return count;
  }

  /** Asks for an event by its channel at the next completion; poll once more before the wait. */
  void ask() {
    int result = Libibverbs.call(askFunction, queue, 0, 0);
    if (result != 0) {
      throw new VerbsException("no event can be asked for: result=" + result);
    }
  }

  /** Returns the number that the verb of a completion was given. */
  long number(int index) {
    return completions.get(ValueLayout.JAVA_LONG, at(index) + IbvWc.WR_ID);
  }

  Status status(int index) {
    return Status.of(completions.get(ValueLayout.JAVA_INT, at(index) + IbvWc.STATUS));
  }

  /** Returns whether it is of a SEND that was received, with 4 bytes beside it. */
  boolean isMessage(int index) {
    return completions.get(ValueLayout.JAVA_INT, at(index) + IbvWc.OPCODE) == IbvWc.RECV;
  }

  /** Returns the length of a message that was received. */
  int bytes(int index) {
    return completions.get(ValueLayout.JAVA_INT, at(index) + IbvWc.BYTE_LEN);
  }

  /** Returns the 4 bytes beside a message that was received. */
  int immediate(int index) {
    return completions.get(IMMEDIATE, at(index) + IbvWc.IMM_DATA);
  }

  /** Returns the number of the queue pair. */
  int queuePair(int index) {
    return completions.get(ValueLayout.JAVA_INT, at(index) + IbvWc.QP_NUM);
  }

  private static long at(int index) {
    return (long) index * IbvWc.BYTES;
  }

  @Override
  public void close() {
    Closing.all(() -> library.destroyCompletionQueue(queue), batch::close);
  }
}
