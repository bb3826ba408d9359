package pando.fabric.lane;

import java.lang.reflect.Constructor;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Makes virtual threads with our own scheduler.
 *
 * <p>The JDK has a constructor for this that is not public; only this class uses it. Needs {@code
 * --add-opens java.base/java.lang=pando.fabric}, and {@code ALL-UNNAMED} on a class path.
 */
public final class VirtualThreads {
  private static final String POLLERS = "sun.nio.ch.Poller";
  private static final String BUILDER = "java.lang.ThreadBuilders$VirtualThreadBuilder";

  private static final @Nullable Constructor<?> CONSTRUCTOR = constructor();

  private VirtualThreads() {}

  /** Returns whether this JDK gives virtual threads a scheduler of ours. */
  public static boolean areSchedulable() {
    return CONSTRUCTOR != null;
  }

  /**
   * Makes a virtual thread that was not started yet.
   *
   * @param scheduler receives the thread's continuation each time that the thread can go on
   * @throws IllegalStateException unless they are {@linkplain #areSchedulable schedulable}
   */
  public static Thread unstarted(String name, Executor scheduler, Runnable body) {
    if (CONSTRUCTOR == null) {
      throw new IllegalStateException(
          "virtual threads cannot be scheduled: run Java 25 with"
              + " --add-opens java.base/java.lang=pando.fabric");
    }
    try {
      Thread.Builder.OfVirtual builder =
          (Thread.Builder.OfVirtual) CONSTRUCTOR.newInstance(scheduler);
      return builder.name(name).unstarted(body);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a virtual thread cannot be made: name=" + name, e);
    }
  }

  private static @Nullable Constructor<?> constructor() {
    try {
      // A virtual thread has the scheduler of the one that starts it. The JDK's threads that wait
      // for sockets are started by the first that needs one, and must not end with our scheduler.
      Class.forName(POLLERS);
      Constructor<?> constructor = Class.forName(BUILDER).getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      return constructor;
    } catch (ReflectiveOperationException | RuntimeException e) {
      // Not opened, or another JDK; see areSchedulable.
      return null;
    }
  }
}
