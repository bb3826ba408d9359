package pando.door.resp;

import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Meters;
import pando.index.Partitioning;
import pando.index.Unwritten;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.ByteVisitor;

/**
 * Byte strings of others, with shorter keys, and with hooks in front of operations and behind. They
 * may look as if they were in other processes.
 */
final class HookedStrings implements ByteStrings {
  private final ByteStrings strings;
  private final int keyBytesMax;
  private final boolean isRemote;

  /**
   * Is told the names of operations, {@code session} and {@code visit} among them, and may throw.
   */
  volatile Consumer<String> before = HookedStrings::nothing;

  volatile Consumer<String> behind = HookedStrings::nothing;

  /** Whether there are hooks at {@link Times}, too, which the door looks at now and then. */
  volatile boolean hooksTimes;

  HookedStrings(ByteStrings strings, int keyBytesMax) {
    this(strings, keyBytesMax, false);
  }

  HookedStrings(ByteStrings strings, int keyBytesMax, boolean isRemote) {
    this.strings = strings;
    this.keyBytesMax = keyBytesMax;
    this.isRemote = isRemote;
  }

  @Override
  public boolean isRemote() {
    return isRemote;
  }

  private static void nothing(String operation) {}

  void unhook() {
    before = HookedStrings::nothing;
    behind = HookedStrings::nothing;
  }

  @Override
  public void flush() {
    strings.flush();
  }

  @Override
  public Unwritten unwritten() {
    return strings.unwritten();
  }

  @Override
  public ByteSession session() {
    if (!hooksTimes && isForTimes()) {
      return strings.session();
    }
    before.accept("session");
    ByteSession session = strings.session();
    return (ByteSession)
        Proxy.newProxyInstance(
            ByteSession.class.getClassLoader(),
            new Class<?>[] {ByteSession.class},
            (proxy, method, arguments) -> {
              if (!method.isDefault()) {
                return run(session, method, arguments);
              }
              if (!method.getName().equals("expect")) { // which is no operation
                before.accept(method.getName());
              }
              return InvocationHandler.invokeDefault(proxy, method, arguments);
            });
  }

  private static boolean isForTimes() {
    return StackWalker.getInstance()
        .walk(
            frames -> frames.anyMatch(frame -> frame.getClassName().equals(Times.class.getName())));
  }

  private @Nullable Object run(ByteSession session, Method method, Object @Nullable [] arguments)
      throws Throwable {
    String name = method.getName();
    boolean isOperation = !name.equals("key") && !name.equals("value") && !name.equals("close");
    if (isOperation) {
      check(name, arguments);
      before.accept(name);
    }
    try {
      Object result = method.invoke(session, hooked(arguments));
      if (isOperation) {
        behind.accept(name);
      }
      return result;
    } catch (InvocationTargetException e) {
      throw requireNonNull(e.getCause());
    }
  }

  /** Puts hooks into visitors, too. */
  private Object @Nullable [] hooked(Object @Nullable [] arguments) {
    if (arguments == null || !(arguments[arguments.length - 1] instanceof ByteVisitor visitor)) {
      return arguments;
    }
    Object[] its = arguments.clone();
    its[its.length - 1] =
        (ByteVisitor)
            (key, value) -> {
              before.accept("visit");
              return visitor.visit(key, value);
            };
    return its;
  }

  private void check(String name, Object @Nullable [] arguments) {
    int keys = name.startsWith("scan") ? 2 : 1;
    for (int i = 0; arguments != null && i < keys; i++) {
      if (arguments[i] instanceof MemorySegment key) {
        ByteArguments.checkKey(key, keyBytesMax);
      }
    }
  }

  @Override
  public Partitioning partitioning() {
    return strings.partitioning();
  }

  @Override
  public int keyBytesMax() {
    return keyBytesMax;
  }

  @Override
  public int valueBytesMax() {
    return strings.valueBytesMax();
  }

  @Override
  public String name() {
    return strings.name();
  }

  @Override
  public Fabric fabric() {
    return strings.fabric();
  }

  @Override
  public VerbCounters verbs() {
    return strings.verbs();
  }

  @Override
  public boolean isClosed() {
    return strings.isClosed();
  }

  @Override
  public void meters(Meters to) {
    strings.meters(to);
  }

  @Override
  public void close() {
    strings.close();
  }
}
