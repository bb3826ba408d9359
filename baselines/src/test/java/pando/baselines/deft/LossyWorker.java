package pando.baselines.deft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;

/** A worker of which verbs are lost, as they are told. */
final class LossyWorker {
  private static final Set<String> VERBS = Set.of("post", "cas", "maskedFaa");

  /** What happens to a verb, or to all of a list. */
  enum Loss {
    /** Nothing. */
    NONE,
    /** It takes effect, and nobody hears of that, nor what it found. */
    AFTER_EFFECT,
    /** It takes no effect, and nobody hears of that. */
    BEFORE_EFFECT
  }

  private final Worker real;
  private final Queue<Loss> losses = new ArrayDeque<>();

  LossyWorker(Worker real) {
    this.real = real;
  }

  /** Says what happens to the next list or atomic that has nothing before it. */
  void lose(Loss loss) {
    losses.add(loss);
  }

  /** Returns the worker. */
  Worker worker() {
    return (Worker)
        Proxy.newProxyInstance(
            Worker.class.getClassLoader(), new Class<?>[] {Worker.class}, this::invoke);
  }

  private @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    Loss next = VERBS.contains(method.getName()) ? losses.poll() : null;
    if (next == Loss.BEFORE_EFFECT) {
      throw new UnknownOutcomeException("lost before its effect");
    }
    byte[] before = next == Loss.AFTER_EFFECT ? memory().toArray(JAVA_BYTE) : new byte[0];
    Object result;
    try {
      result = method.invoke(real, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
    if (next == Loss.AFTER_EFFECT) {
      memory().copyFrom(MemorySegment.ofArray(before));
      throw new UnknownOutcomeException("lost after its effect");
    }
    return result;
  }

  private MemorySegment memory() {
    return real.memory();
  }
}
