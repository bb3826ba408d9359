package pando.index;

import java.lang.reflect.Method;

/**
 * What the current thread has allocated. By reflection, since the module under test does not
 * require the modules that know it.
 */
public final class AllocatedBytes {
  private final Object threads;
  private final Method allocated;

  public AllocatedBytes() {
    try {
      Class<?> factory = Class.forName("java.lang.management.ManagementFactory");
      threads = factory.getMethod("getThreadMXBean").invoke(null);
      allocated =
          Class.forName("com.sun.management.ThreadMXBean")
              .getMethod("getCurrentThreadAllocatedBytes");
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("this JVM does not count what threads allocate", e);
    }
  }

  /** Returns the bytes since the thread started. */
  public long get() {
    try {
      return (long) allocated.invoke(threads);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("this JVM does not count what threads allocate", e);
    }
  }
}
