package pando.durable;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** Sessions whose changes fail now and then: before they do anything, half-way, or afterwards. */
final class FailingCalls {
  private static final Set<String> CHANGES =
      Set.of("put", "putIfAbsent", "update", "remove", "replace", "store", "discard", "putAll");

  private final SplittableRandom random;
  private final int oneIn;
  private volatile boolean gets;
  private volatile boolean changes;

  /**
   * Fails changes.
   *
   * @param oneIn so many of them fail once
   */
  FailingCalls(SplittableRandom random, int oneIn) {
    this.random = random;
    this.oneIn = oneIn;
  }

  /** Has each get fail from now on, or none. */
  void failGets(boolean all) {
    gets = all;
  }

  /** Has each change fail from now on. */
  void failChanges() {
    changes = true;
  }

  /** Returns an index with such sessions. */
  RangeIndex over(RangeIndex index) {
    return proxy(RangeIndex.class, index, Session.class);
  }

  /** Returns byte strings with such sessions. */
  ByteStrings over(ByteStrings strings) {
    return proxy(ByteStrings.class, strings, ByteSession.class);
  }

  private <T, S> T proxy(Class<T> type, T real, Class<S> sessionType) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              Object answer = call(method, real, arguments);
              return method.getName().equals("session")
                  ? session(sessionType, answer, split())
                  : answer;
            }));
  }

  private synchronized SplittableRandom split() {
    return random.split();
  }

  private Object session(Class<?> type, Object real, SplittableRandom own) {
    return Proxy.newProxyInstance(
        type.getClassLoader(),
        new Class<?>[] {type},
        (_, method, arguments) -> {
          if (method.getName().equals("get") && gets) {
            throw new StalledException("a get failed by a test");
          }
          if (CHANGES.contains(method.getName()) && (changes || own.nextInt(oneIn) == 0)) {
            throw failure(real, method, arguments, own);
          }
          return call(method, real, arguments);
        });
  }

  /** Returns what a change throws, which has happened or not, as far as it may have. */
  private static Throwable failure(
      Object real, Method method, Object[] arguments, RandomGenerator random) throws Throwable {
    if (random.nextInt(3) == 0) {
      if (method.getName().equals("putAll")) {
        putSome((Session) real, arguments, random);
      }
      return new StalledException("failed by a test");
    }
    if (random.nextBoolean()) {
      if (method.getName().equals("putAll")) {
        putSome((Session) real, arguments, random);
      } else {
        call(method, real, arguments);
      }
    }
    return FAILURES.get(random.nextInt(FAILURES.size())).get();
  }

  private static final List<Supplier<Throwable>> FAILURES =
      List.of(
          () -> new UnknownOutcomeException("failed by a test"),
          () -> new OutOfMemoryError("failed by a test"),
          () -> new IllegalMonitorStateException("a bug, failed by a test"),
          () -> {
            Error error = new StackOverflowError("failed by a test");
            error.addSuppressed(new UnknownOutcomeException("failed by a test"));
            return error;
          });

  private static void putSome(Session real, Object[] arguments, RandomGenerator random) {
    long[] keys = (long[]) arguments[0];
    long[] values = (long[]) arguments[3];
    for (int i = 0; i < (int) arguments[2]; i++) {
      if (random.nextBoolean()) {
        real.store(keys[(int) arguments[1] + i], values[(int) arguments[1] + i]);
      }
    }
  }

  private static Object call(Method method, Object real, Object[] arguments) throws Throwable {
    try {
      return method.invoke(real, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
