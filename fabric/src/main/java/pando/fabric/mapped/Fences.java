package pando.fabric.mapped;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import pando.fabric.ComputeServer;
import pando.fabric.FencedException;
import pando.fabric.SpinBackoff;

/**
 * The least epoch of each compute server, and the threads that are about to touch memory for one.
 *
 * <p>A thread that runs verbs for a compute server has a {@link Pass}. It first shows by the pass
 * that it is inside, and looks at the least epoch only then. A thread that fences first raises the
 * least epoch, and looks at the passes only then. So at least one sees the other: either the verbs
 * are not run, or the fence waits for their end. Thread-safe.
 */
public final class Fences {
  /** How long a fence waits for what is being served. */
  public static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  private final AtomicLongArray leastEpochs = new AtomicLongArray(ComputeServer.NUMBER_MAX + 1);
  private final Set<Pass> passes = new HashSet<>();

  /** Creates fences that refuse none. */
  public Fences() {}

  /** What one thread at a time enters by, to run verbs for a compute server. */
  public static final class Pass implements AutoCloseable {
    private static final VarHandle INSIDE = inside();

    private final Fences fences;
    private final ComputeServer holder;
    private final int number;
    private final long epoch;
    private final Runnable onFence;

    @SuppressWarnings("unused") // Used through INSIDE.
    private boolean inside;

    private Pass(Fences fences, ComputeServer holder, Runnable onFence) {
      this.fences = fences;
      this.holder = holder;
      this.number = holder.number();
      this.epoch = holder.epoch();
      this.onFence = onFence;
    }

    private static VarHandle inside() {
      try {
        return MethodHandles.lookup().findVarHandle(Pass.class, "inside", boolean.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    /** Enters, unless the epoch is refused; returns whether it did. */
    public boolean tryEnter() {
      INSIDE.setVolatile(this, true);
      if (!isFenced()) {
        return true;
      }
      exit();
      return false;
    }

    /**
     * Enters.
     *
     * @throws FencedException if the epoch is refused
     */
    public void enter() {
      if (!tryEnter()) {
        throw new FencedException(
            "this compute server is fenced: "
                + holder
                + ", leastEpoch="
                + fences.leastEpochs.get(number));
      }
    }

    /** Leaves: what was run has taken effect. */
    public void exit() {
      INSIDE.setRelease(this, false);
    }

    /** Returns whether the epoch is refused. */
    public boolean isFenced() {
      return fences.leastEpochs.get(number) > epoch;
    }

    private boolean isInside() {
      return (boolean) INSIDE.getVolatile(this);
    }

    /** Gives the pass back; its thread is outside. */
    @Override
    public void close() {
      fences.forget(this);
    }
  }

  /**
   * Makes a pass, also for an epoch that is refused.
   *
   * @param onFence run, maybe more than once, by a thread that fences the holder
   */
  public synchronized Pass pass(ComputeServer holder, Runnable onFence) {
    Pass pass = new Pass(this, holder, onFence);
    passes.add(pass);
    return pass;
  }

  /** Returns whether the epoch of a compute server is refused. */
  public boolean isFenced(ComputeServer computeServer) {
    return leastEpochs.get(computeServer.number()) > computeServer.epoch();
  }

  private synchronized void forget(Pass pass) {
    passes.remove(pass);
  }

  /**
   * Raises the least epoch of a compute server, and waits until no thread of a lower one is inside.
   *
   * @param nanosMax longest wait
   * @return whether all have left in time; none enters in any case
   */
  public boolean fence(int computeServer, long leastEpoch, long nanosMax) {
    leastEpochs.accumulateAndGet(computeServer, leastEpoch, Math::max);
    List<Pass> refused = refused(computeServer);
    refused.forEach(pass -> pass.onFence.run());
    long start = System.nanoTime();
    SpinBackoff backoff = new SpinBackoff();
    for (int attempt = 0; refused.stream().anyMatch(Pass::isInside); attempt++) {
      if (System.nanoTime() - start > nanosMax) {
        return false;
      }
      backoff.pause(attempt);
    }
    return true;
  }

  private synchronized List<Pass> refused(int computeServer) {
    return passes.stream().filter(pass -> pass.number == computeServer && pass.isFenced()).toList();
  }
}
