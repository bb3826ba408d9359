package pando.index.session;

import org.jspecify.annotations.Nullable;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;

/**
 * A walk over what is unwritten, which writes it to the pool, some at a time. Belongs to one
 * thread; several may walk at the same time, as {@link WriteBack} lets one write at a time.
 */
public abstract class Sweep {
  // Ranks of failures. What fails by the last one may be written later, by the others never.
  private static final int DAMAGED = 0;
  private static final int LOST = 1;
  private static final int LATER = 2;

  private final WriteBack writeBack;

  private final Worker worker;
  private final Gate.Pass pass;
  private boolean complete;
  private boolean failed;
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
   * now is marked again, and {@linkplain #leaveOut left out} unless it fails. Other operations go
   * on.
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
    failed = false;
    begun = false;
  }

  /** Returns whether a step of the walk has begun: a later one goes on behind it. */
  final boolean hasBegun() {
    return begun;
  }

  /** Returns whether all was written that was marked when the walk began. */
  final boolean isComplete() {
    return begun && complete && !failed;
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
      failed |= !done;
      writeBack.unlock();
    }
  }

  /**
   * Writes all that was changed before the call.
   *
   * @throws StalledException if others hold something for too long
   * @throws MemoryServerLostException if a memory server is lost that something needs, and nothing
   *     else keeps anything from being written; the rest was
   * @throws CorruptNodeException if a node is damaged that something needs, and nothing else keeps
   *     anything from being written; the rest was
   * @throws PandoException if something could not be written, which may succeed later
   */
  public final void writeAll() {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      begin();
      PandoException failure = writeOnce();
      if (failure != null && (complete || rank(failure) == LATER)) {
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
        failure = worse(failure, e);
        abandon(e);
      }
    }
    return failure;
  }

  /** Returns the failure of the higher rank, the first of equal ones: there can be very many. */
  private static PandoException worse(@Nullable PandoException before, PandoException failure) {
    return before == null || rank(failure) > rank(before) ? failure : before;
  }

  private static int rank(PandoException failure) {
    return switch (failure) {
      case CorruptNodeException _ -> DAMAGED;
      case MemoryServerLostException _ -> LOST;
      default -> LATER;
    };
  }

  /** Gives back what it holds, after a failure. Default: it holds nothing. */
  protected void abandon(Throwable failure) {}
}
