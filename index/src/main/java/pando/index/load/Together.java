package pando.index.load;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/** Steps that threads take at the same time. The first failure is that of all. */
public final class Together {
  private @Nullable Throwable first;
  private volatile boolean hasFailed;

  /** Creates an object for one {@link #run}. */
  public Together() {}

  /** Returns whether a step has failed, so that the others should end early. */
  public boolean hasFailed() {
    return hasFailed;
  }

  /**
   * Takes each step in a thread of its own, the first one in the caller's, and waits until all have
   * ended. A caller that is interrupted waits anyway, and stays interrupted. Throws the first
   * failure, whatever it is, with the others suppressed.
   *
   * @param name of the threads
   */
  public void run(String name, List<? extends Runnable> steps) {
    List<Thread> threads = new ArrayList<>(steps.size());
    try {
      for (Runnable step : steps.subList(1, steps.size())) {
        threads.add(Thread.ofPlatform().name(name).daemon().start(() -> take(step)));
      }
    } catch (Throwable e) {
      fail(e);
    }
    take(steps.getFirst());
    threads.forEach(Closing::join);
    if (first != null) {
      throw Together.<RuntimeException>unchecked(first);
    }
  }

  private void take(Runnable step) {
    try {
      if (!hasFailed) {
        step.run();
      }
    } catch (Throwable e) {
      fail(e);
    }
  }

  @SuppressWarnings("ReferenceEquality") // A failure cannot suppress itself.
  private synchronized void fail(Throwable failure) {
    hasFailed = true;
    if (first == null) {
      first = failure;
    } else if (first != failure) {
      first.addSuppressed(failure);
    }
  }

  /** Has a failure thrown as it is, also one that a source threw without declaring it. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> T unchecked(Throwable failure) throws T {
    throw (T) failure;
  }
}
