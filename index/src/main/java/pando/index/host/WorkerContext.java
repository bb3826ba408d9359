package pando.index.host;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.pool.Workers;

/** The verbs and the local memory of one worker, shared by its parts. Every system extends it. */
public abstract class WorkerContext implements AutoCloseable {
  /** Issues the verbs. */
  public final Worker worker;

  /** The local memory that verbs read and write. */
  public final MemorySegment memory;

  /** Local offset of a buffer for the message of a CALL ({@link Worker#CALL_BYTES_MAX} bytes). */
  public final long message;

  /** Counters of the worker's descents. */
  public final DescentCounters counters = new DescentCounters();

  private final RegisteredMemory registered;

  /**
   * Registers local memory.
   *
   * @param local the regions that the system needs
   */
  protected WorkerContext(Fabric fabric, LocalMemory local) {
    this.message = local.region(Worker.CALL_BYTES_MAX);
    this.registered = fabric.register(local.bytes());
    this.worker = Workers.open(fabric, registered);
    this.memory = worker.memory();
  }

  /**
   * Unlocks everything after a failure. Another failure is added to the given one as suppressed.
   */
  public abstract void abandon(Throwable failure);

  @Override
  public void close() {
    Closing.all(worker::close, registered::close);
  }
}
