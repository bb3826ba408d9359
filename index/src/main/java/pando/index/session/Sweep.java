package pando.index.session;

import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;

/**
 * A walk over what is unwritten, which writes it to the pool, some at a time. Belongs to one
 * thread; several may walk at the same time, as {@link WriteBack} lets one write at a time.
 */
public abstract class Sweep {
  private final WriteBack writeBack;

  private final Worker worker;
  private final Gate.Pass pass;
  private boolean complete;
  private boolean begun;

  /** Whether the last step got its turn to write. */
  private boolean hasTurn;

  /**
   * Creates a walk that has not begun.
   *
   * @param pass with which it enters the gate of the index
   */
  protected Sweep(WriteBack writeBack, Worker worker, Gate.Pass pass) {
    this.writeBack = writeBack;
    this.worker = worker;
    this.pass = pass;
  }

  /** Goes back to the start. */
  protected abstract void rewind();

  /**
   * Writes some of what is marked, and goes on behind it, even if it fails. What cannot be written
   * now is marked again, and {@linkplain #leaveOut left out}. Other operations go on.
   *
   * @return whether there may be more
   */
  protected abstract boolean write();

  /** Notes that something could not be written, as an operation holds it. */
  protected final void leaveOut() {
    complete = false;
  }

  final void begin() {
    complete = true;
    begun = false;
  }

  /** Returns whether a step of the walk has begun: a later one goes on behind it. */
  final boolean hasBegun() {
    return begun;
  }

  /** Returns whether all was written that was marked when the walk began. */
  final boolean isComplete() {
    return begun && complete;
  }

  final long nanoTime() {
    return worker.nanoTime();
  }

  /** Enters the gate, unless the index changes as a whole; returns whether it has entered. */
  final boolean tryEnter() {
    return pass.tryEnter();
  }

  /** Takes a step inside the gate, and leaves it; returns whether there may be more. */
  final boolean step() {
    try {
      return writeAlone();
    } finally {
      pass.exit();
    }
  }

  private boolean writeAlone() {
    boolean done = false;
    hasTurn = false;
    writeBack.lock(worker);
    hasTurn = true;
    try {
      if (!begun) {
        // Not before the lock: another walk marks again what it could not write.
        rewind();
        begun = true;
      }
      boolean more = write();
      done = true;
      return more;
    } finally {
      complete &= done;
      writeBack.unlock();
    }
  }

  /**
   * Writes all that was changed before the call.
   *
   * @throws StalledException if others hold something for too long
   * @throws PandoException if something could not be written; the rest was
   */
  public final void writeAll() {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      begin();
      PandoException failure = writeOnce();
      if (failure != null) {
        throw failure;
      }
      if (complete) {
        return;
      }
      String what = "changes cannot be written back, as others hold them";
      start = WaitLimit.LONG.pause(worker.backoff(), attempt, start, what);
    }
  }

  private @Nullable PandoException writeOnce() {
    @Nullable PandoException failure = null;
    boolean more = true;
    while (more) {
      pass.enter();
      try {
        more = step();
      } catch (PandoException e) {
        if (!hasTurn) {
          throw e;
        }
        failure = failure == null ? e : failure;
        abandon(e);
      }
    }
    return failure;
  }

  /** Gives back what it holds, after a failure. Default: it holds nothing. */
  protected void abandon(Throwable failure) {}
}
