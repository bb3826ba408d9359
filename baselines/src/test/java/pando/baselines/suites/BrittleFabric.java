package pando.baselines.suites;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Fabric;
import pando.fabric.Worker;

/**
 * A fabric of which one step fails before it takes effect: what it opens, or a verb of its workers;
 * or all verbs from one step on. Counts what is open. Thread-safe.
 */
public final class BrittleFabric {
  private static final Set<String> OPENS = Set.of("register", "worker", "background");

  /** What workers do besides verbs. */
  private static final Set<String> NO_VERBS =
      Set.of("close", "memory", "counters", "backoff", "nanoTime", "random", "toString", "equals");

  private final Fabric real;
  private final AtomicInteger steps = new AtomicInteger();
  private final List<Integer> openings = new CopyOnWriteArrayList<>();
  private final AtomicInteger workers = new AtomicInteger();
  private final AtomicInteger tasks = new AtomicInteger();
  private volatile int first = Integer.MAX_VALUE;
  private volatile int last = Integer.MAX_VALUE;
  private volatile Supplier<? extends Throwable> failure = AssertionError::new;

  public BrittleFabric(Fabric real) {
    this.real = real;
  }

  /** Lets steps fail from now on, by their number; the next one has number 0. */
  public void fail(int from, int to, Supplier<? extends Throwable> how) {
    steps.set(0);
    openings.clear();
    failure = how;
    last = to;
    first = from;
  }

  /** Lets no step fail any more. */
  public void mend() {
    first = Integer.MAX_VALUE;
  }

  /** Returns the number of steps since {@link #fail}. */
  public int steps() {
    return steps.get();
  }

  /** Returns the numbers of those steps that opened something. */
  public List<Integer> openings() {
    return openings;
  }

  /** Returns the number of workers and background tasks that are open. */
  public int open() {
    return workers.get() + tasks.get();
  }

  public Fabric fabric() {
    return wrap(Fabric.class, real, new AtomicInteger());
  }

  private <T> T wrap(Class<T> type, T whole, AtomicInteger open) {
    boolean[] closed = {false};
    Object proxy =
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              String name = method.getName();
              boolean opens = type == Fabric.class && OPENS.contains(name);
              if (opens || isVerb(type, name)) {
                step(opens);
              }
              if (name.equals("close") && !closed[0]) {
                closed[0] = true;
                open.decrementAndGet();
              }
              Object result = invoke(whole, method, arguments);
              return switch (result) {
                case Worker worker when type == Fabric.class -> {
                  workers.incrementAndGet();
                  yield wrap(Worker.class, worker, workers);
                }
                case BackgroundTask task when type == Fabric.class -> {
                  tasks.incrementAndGet();
                  yield wrap(BackgroundTask.class, task, tasks);
                }
                case null, default -> result;
              };
            });
    return type.cast(proxy);
  }

  private static boolean isVerb(Class<?> type, String name) {
    return type == Worker.class && !NO_VERBS.contains(name);
  }

  private void step(boolean opens) throws Throwable {
    int number = steps.getAndIncrement();
    if (opens) {
      openings.add(number);
    }
    if (number >= first && number <= last && !(opens && last > first)) {
      throw failure.get();
    }
  }

  private static @Nullable Object invoke(
      Object whole, Method method, @Nullable Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(whole, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
