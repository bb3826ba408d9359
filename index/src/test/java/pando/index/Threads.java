package pando.index;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Runs tasks on threads of their own; the first failure, or a hang, ends them all. */
public final class Threads {
  private static final int SECONDS_MAX = Integer.getInteger("pando.test.hang", 100);

  private Threads() {}

  /** Runs every task on a thread of its own. */
  public static void run(List<Callable<Void>> tasks) throws Exception {
    run(Thread.ofPlatform().daemon().factory(), tasks);
  }

  /** Runs every task on a thread of its own, which the factory makes. */
  public static void run(ThreadFactory factory, List<Callable<Void>> tasks) throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(tasks.size(), factory);
    try {
      CompletionService<Void> service = new ExecutorCompletionService<>(executor);
      tasks.forEach(service::submit);
      List<Throwable> failures = new ArrayList<>();
      for (int i = 0; i < tasks.size(); i++) {
        Future<Void> ended = service.poll(SECONDS_MAX, TimeUnit.SECONDS);
        if (ended == null) {
          throw new AssertionError("threads hang: " + stacks(), firstOf(failures));
        }
        try {
          ended.get();
        } catch (ExecutionException e) {
          failures.add(e.getCause());
        }
      }
      if (!failures.isEmpty()) {
        AssertionError error = new AssertionError("a thread failed", failures.getFirst());
        failures.stream().skip(1).forEach(error::addSuppressed);
        throw error;
      }
    } finally {
      executor.shutdownNow();
    }
  }

  private static Throwable firstOf(List<Throwable> failures) {
    return failures.isEmpty() ? new AssertionError("none failed") : failures.getFirst();
  }

  private static String stacks() {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<Thread, StackTraceElement[]> each : Thread.getAllStackTraces().entrySet()) {
      text.append('\n').append(each.getKey());
      for (StackTraceElement element : each.getValue()) {
        text.append("\n    ").append(element);
      }
    }
    return text.toString();
  }
}
