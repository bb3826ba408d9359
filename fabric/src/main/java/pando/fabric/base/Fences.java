package pando.fabric.base;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.FenceFailedException;
import pando.fabric.FencedException;
import pando.fabric.SpinBackoff;
import pando.fabric.memory.Fields;

/**
 * The threads that are about to touch memory, and which of them may: those of compute servers whose
 * epoch is not refused, on the newest connection of their way.
 *
 * <p>A thread that runs verbs for others has a {@link Pass}. It first shows by the pass that it is
 * inside, and looks only then whether it is refused. A thread that refuses it says so first, and
 * looks at the pass only then. So at least one sees the other: either the verbs are not run, or the
 * one that refuses waits for their end. Thread-safe.
 *
 * <p>A way is what connections have in common that a client opens one after the other, each because
 * the one before was cut. What still comes by an older one must not take effect behind what comes
 * by a newer one, so the older ones are refused before the newer one is used.
 */
public final class Fences {
  /** The way of a connection that replaces none, and that none replaces. */
  public static final long NO_WAY = 0;

  /** How long a fence waits for what is being served. */
  public static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  private final AtomicLongArray leastEpochs = new AtomicLongArray(ComputeServer.NUMBER_MAX + 1);
  private final Set<Pass> passes = new HashSet<>();

  /** Creates fences that refuse none. */
  public Fences() {}

  /** What one thread at a time enters by, to run verbs for others. */
  public static final class Pass implements AutoCloseable {
    private static final VarHandle INSIDE =
        Fields.handle(MethodHandles.lookup(), "inside", boolean.class);

    private final Fences fences;
    private final @Nullable ComputeServer holder;
    private final long way;
    private final Runnable onRefusal;
    private volatile boolean replaced;

    /** Whether something takes effect by this pass without a thread that is inside. */
    private volatile boolean attached;

    @SuppressWarnings("unused") // Used through INSIDE.
    private boolean inside;

    private Pass(Fences fences, @Nullable ComputeServer holder, long way, Runnable onRefusal) {
      this.fences = fences;
      this.holder = holder;
      this.way = way;
      this.onRefusal = onRefusal;
    }

    /** Enters, unless it is refused; returns whether it did. */
    public boolean tryEnter() {
      INSIDE.setVolatile(this, true);
      if (!replaced && !isFenced()) {
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
        throw fences.fenced(holder);
      }
    }

    /** Leaves: what was run has taken effect. */
    public void exit() {
      INSIDE.setRelease(this, false);
    }

    /**
     * Says, inside, that from now on something takes effect by this pass on its own, as the verbs
     * of a card do: what refuses the pass waits until {@link #detach}.
     */
    public void attach() {
      attached = true;
    }

    /** Says that it has ended. */
    public void detach() {
      attached = false;
    }

    /** Returns whether the epoch is refused. */
    public boolean isFenced() {
      return holder != null && fences.isFenced(holder);
    }

    private boolean isOf(int computeServer) {
      return holder != null && holder.number() == computeServer;
    }

    private boolean isOlderThan(Pass newer) {
      return way == newer.way && !equals(newer);
    }

    private void replace() {
      replaced = true;
      onRefusal.run();
    }

    private boolean isInside() {
      return attached || (boolean) INSIDE.getVolatile(this);
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
   * @param holder that can be fenced, or {@code null}
   * @param way of the connection that it is for, or {@link #NO_WAY}
   * @param onRefusal run, maybe more than once, by a thread that refuses the pass
   */
  public synchronized Pass pass(@Nullable ComputeServer holder, long way, Runnable onRefusal) {
    Pass pass = new Pass(this, holder, way, onRefusal);
    passes.add(pass);
    return pass;
  }

  /**
   * Refuses the older passes of the same way, and waits until no thread of theirs is inside.
   *
   * @param nanosMax longest wait
   * @return whether all have left in time; none enters in any case
   */
  public boolean replaceOlder(Pass newer, long nanosMax) {
    if (newer.way == NO_WAY) {
      return true;
    }
    List<Pass> older = passes(pass -> pass.isOlderThan(newer));
    older.forEach(Pass::replace);
    return awaitOutside(older, nanosMax);
  }

  /**
   * As {@link #fence(int, long, long)}, with the usual wait.
   *
   * @throws FenceFailedException if not all have left in time
   */
  public void fence(int computeServer, long leastEpoch) {
    if (!fence(computeServer, leastEpoch, WAIT_NANOS_MAX)) {
      throw new FenceFailedException(
          "verbs do not end: computeServer="
              + computeServer
              + ", leastEpoch="
              + leastEpoch
              + ", waitedNanos="
              + WAIT_NANOS_MAX,
          new BitSet());
    }
  }

  /**
   * Checks what a compute server is to be fenced by.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public static void checkRange(int computeServer, long leastEpoch) {
    if (!ComputeServer.isName(computeServer, leastEpoch)) {
      throw new IllegalArgumentException(
          "no such fence: computeServer="
              + computeServer
              + ", maximum="
              + ComputeServer.NUMBER_MAX
              + ", leastEpoch="
              + leastEpoch
              + ", minimum=1");
    }
  }

  /** Returns whether the epoch of a compute server is refused. */
  public boolean isFenced(ComputeServer computeServer) {
    return leastEpochs.get(computeServer.number()) > computeServer.epoch();
  }

  /**
   * Checks that the epoch of a compute server is not refused.
   *
   * @throws FencedException if it is
   */
  public void checkAccepted(ComputeServer computeServer) {
    if (isFenced(computeServer)) {
      throw fenced(computeServer);
    }
  }

  private FencedException fenced(@Nullable ComputeServer holder) {
    return new FencedException("this compute server is fenced: " + describe(holder));
  }

  private String describe(@Nullable ComputeServer holder) {
    return holder + ", leastEpoch=" + (holder == null ? 0 : leastEpochs.get(holder.number()));
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
    List<Pass> refused = passes(pass -> pass.isOf(computeServer) && pass.isFenced());
    refused.forEach(pass -> pass.onRefusal.run());
    return awaitOutside(refused, nanosMax);
  }

  private static boolean awaitOutside(List<Pass> refused, long nanosMax) {
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

  private synchronized List<Pass> passes(Predicate<Pass> which) {
    return passes.stream().filter(which).toList();
  }
}
