package pando.fabric.base;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.layout.Regions;
import pando.fabric.server.CallHandler;

/** What workers of all fabrics have, and check. */
public abstract class WorkerBase implements Worker {
  /** Bytes of the operands of a 16-byte masked CAS. */
  private static final int OPERANDS_16_BYTES = 80;

  private final MemorySegment memory;
  private final RandomGenerator random;
  private final Backoff backoff;
  private final VerbCounters counters = new VerbCounters();

  /** Creates a worker; the parameters are what its methods of these names return. */
  protected WorkerBase(MemorySegment memory, RandomGenerator random, Backoff backoff) {
    this.memory = memory;
    this.random = random;
    this.backoff = backoff;
  }

  @Override
  public final MemorySegment memory() {
    return memory;
  }

  @Override
  public final VerbCounters counters() {
    return counters;
  }

  @Override
  public final Backoff backoff() {
    return backoff;
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public final RandomGenerator random() {
    return random;
  }

  /** Checks that bytes are in the local memory. */
  protected final void checkLocal(long local, int bytes) {
    Objects.checkFromIndexSize(local, bytes, memory.byteSize());
  }

  /** Checks the place of the operands of a 16-byte masked CAS. */
  protected final void checkOperands16(long operands) {
    if ((operands & (2 * Long.BYTES - 1)) != 0) {
      throw new IllegalArgumentException("misaligned operands: offset=" + operands);
    }
    checkLocal(operands, OPERANDS_16_BYTES);
  }

  /** Checks what a caller passed to {@link #call}. */
  protected final void checkCall(
      int server, int memoryServers, int function, long message, int requestBytes) {
    Regions.checkServer(server, memoryServers);
    if (function < 0 || function >= CallHandler.FUNCTIONS_MAX) {
      throw new IllegalArgumentException("no such function: function=" + function);
    }
    if (requestBytes < 0 || requestBytes > CALL_BYTES_MAX) {
      throw new IllegalArgumentException(
          "invalid request: requestBytes=" + requestBytes + ", maximum=" + CALL_BYTES_MAX);
    }
    checkLocal(message, CALL_BYTES_MAX);
  }

  /** Returns the exception for a verb of a closed worker. */
  protected static IllegalStateException closed() {
    return new IllegalStateException("worker is closed");
  }
}
