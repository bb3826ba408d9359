package pando.sim.time;

import java.lang.reflect.Constructor;
import java.util.concurrent.Executor;

/**
 * Makes virtual threads with our own scheduler.
 *
 * <p>The JDK has a constructor for this that is not public; only this class uses it. Needs {@code
 * --add-opens java.base/java.lang=pando.sim}, and {@code ALL-UNNAMED} on a class path.
 */
final class VirtualThreads {
  private static final String BUILDER = "java.lang.ThreadBuilders$VirtualThreadBuilder";

  private VirtualThreads() {}

  /**
   * Makes a virtual thread that was not started yet.
   *
   * @param scheduler receives the thread's continuation each time that the thread can go on
   */
  static Thread unstarted(String name, Executor scheduler, Runnable body) {
    try {
      Constructor<?> constructor = Class.forName(BUILDER).getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      Thread.Builder.OfVirtual builder =
          (Thread.Builder.OfVirtual) constructor.newInstance(scheduler);
      return builder.name(name).unstarted(body);
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new IllegalStateException(
          "the simulator cannot schedule virtual threads: run Java 25 with"
              + " --add-opens java.base/java.lang=pando.sim",
          e);
    }
  }
}
