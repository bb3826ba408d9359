package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvWc;

/** Where the verbs of queue pairs complete. One thread at a time polls it. */
final class CompletionQueue implements AutoCloseable {
  private static final int BATCH = 16;

  private final Libibverbs library;
  private final MemorySegment pollFunction;
  private final long queue;
  private final NativeMemory batch;
  private final MemorySegment completions;

  /**
   * Creates it.
   *
   * @param entries completions that are not polled yet, at most
   */
  CompletionQueue(Device device, int entries) {
    this.library = device.library();
    this.pollFunction = device.pollFunction();
    this.batch = NativeMemory.allocate((long) BATCH * IbvWc.BYTES);
    this.completions = batch.segment();
    try {
      this.queue = library.createCompletionQueue(device.context(), entries);
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
    int count;
    try {
      count = (int) Libibverbs.POLL.invokeExact(pollFunction, queue, BATCH, completions.address());
    } catch (Throwable e) {
      throw Libibverbs.thrown(e);
    }
    if (count < 0) {
      throw new VerbsException("completions cannot be polled: result=" + count);
    }
    return count;
  }

  /** Returns the number that the verb of a completion was given. */
  long number(int index) {
    return completions.get(ValueLayout.JAVA_LONG, at(index) + IbvWc.WR_ID);
  }

  Status status(int index) {
    return Status.of(completions.get(ValueLayout.JAVA_INT, at(index) + IbvWc.STATUS));
  }

  private static long at(int index) {
    return (long) index * IbvWc.BYTES;
  }

  @Override
  public void close() {
    Closing.all(() -> library.destroyCompletionQueue(queue), batch::close);
  }
}
