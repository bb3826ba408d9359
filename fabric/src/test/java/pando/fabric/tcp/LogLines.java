package pando.fabric.tcp;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a class logs. By reflection, as the module under test does not require {@code java.logging};
 * a filter sees the lines, as it is an interface.
 */
final class LogLines implements AutoCloseable {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Object logger;

  private LogLines(Object logger) {
    this.logger = logger;
  }

  static LogLines of(Class<?> type) throws ReflectiveOperationException {
    Object logger =
        Class.forName("java.util.logging.Logger")
            .getMethod("getLogger", String.class)
            .invoke(null, type.getName());
    LogLines log = new LogLines(logger);
    Class<?> filter = Class.forName("java.util.logging.Filter");
    log.setFilter(
        Proxy.newProxyInstance(
            LogLines.class.getClassLoader(),
            new Class<?>[] {filter},
            (_, _, arguments) -> {
              Object entry = arguments[0];
              log.lines.add(String.valueOf(entry.getClass().getMethod("getMessage").invoke(entry)));
              return false;
            }));
    return log;
  }

  /** Waits until something is logged; returns all that was. */
  List<String> await() {
    while (lines.isEmpty()) {
      LockSupport.parkNanos(100_000);
    }
    return lines;
  }

  List<String> all() {
    return lines;
  }

  @Override
  public void close() throws ReflectiveOperationException {
    setFilter(null);
  }

  private void setFilter(@Nullable Object filter) throws ReflectiveOperationException {
    Class.forName("java.util.logging.Logger")
        .getMethod("setFilter", Class.forName("java.util.logging.Filter"))
        .invoke(logger, filter);
  }
}
