package pando.index.pool;

import java.util.function.Consumer;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.memory.StackRoom;

/**
 * A change of an index as a whole: made by one caller at a time, in any process, under the lock of
 * the partition table. Systems add what they change.
 */
public class PoolChange implements AutoCloseable {
  private final Consumer<VerbCounters> count;
  private final long message;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final Catalogue catalogue;
  private final ChangeLock lock;
  private boolean locked;

  /**
   * Prepares a change.
   *
   * @param localBytes local memory for nodes, from 0 on
   * @param system number of the index's system
   * @param count receives the counts of the verbs at the end
   * @throws StackOverflowError if the stack has too little room for a change
   */
  public PoolChange(
      Fabric fabric, long localBytes, NodePlaces places, int system, Consumer<VerbCounters> count) {
    StackRoom.WORDS.check();
    this.count = count;
    this.message = localBytes;
    this.registered = fabric.register(localBytes + Worker.CALL_BYTES_MAX);
    this.worker = Workers.open(fabric, registered);
    this.catalogue = new Catalogue(worker, message, places, system);
    this.lock = new ChangeLock(fabric, worker);
  }

  /**
   * Locks the partition table until the change is closed. Takes the lock over from a holder whose
   * process is gone.
   *
   * @throws StalledException if a process that still runs does not unlock it
   */
  public final void lock() {
    locked = true;
    lock.lock();
  }

  /**
   * Locks the partition table until the change is closed, if no other change has the lock, or a
   * process that is gone; returns whether it did. Can be called again.
   */
  public final boolean tryLock() {
    locked = true;
    return lock.tryLock();
  }

  /** Returns the catalogue: the index's well-known words. */
  public final Catalogue catalogue() {
    return catalogue;
  }

  /** Returns the worker that makes the change. */
  public final Worker worker() {
    return worker;
  }

  /** Returns the local offset of the buffer for the message of a CALL. */
  public final long message() {
    return message;
  }

  @Override
  public final void close() {
    Closing.all(
        () -> {
          if (locked) {
            lock.unlock();
          }
        },
        () -> count.accept(worker.counters()),
        worker::close,
        registered::close);
  }
}
