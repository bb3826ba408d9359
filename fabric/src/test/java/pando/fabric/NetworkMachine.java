package pando.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * A machine of {@code testbed/network}: a network namespace with a bad network. Where the system
 * property {@code pando.network} is true there are three, and the test itself runs on the third.
 */
public final class NetworkMachine {
  /** The system property that says that there are machines. */
  public static final String PROPERTY = "pando.network";

  private static final int READ_ONLY = 0;
  private static final int NETWORK_NAMESPACE = 0x40000000;

  private final int number;

  /** Names machine 1, 2 or 3. */
  public NetworkMachine(int number) {
    this.number = number;
  }

  /** Returns its address. */
  public String address() {
    return "10.98.0." + number;
  }

  /** Does something in a thread that is on the machine: sockets that it opens stay there. */
  public <T> T run(Supplier<T> action) {
    try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
      return CompletableFuture.supplyAsync(
              () -> {
                enter();
                return action.get();
              },
              thread)
          .join();
    }
  }

  /** Moves this thread to the machine. */
  private void enter() {
    String file = "/run/netns/pando" + number;
    int descriptor = open(file);
    int status = call("setns", descriptor, NETWORK_NAMESPACE);
    call("close", descriptor);
    if (descriptor < 0 || status != 0) {
      throw new IllegalStateException("no machine: file=" + file + ", open=" + descriptor);
    }
  }

  private static int open(String file) {
    MethodHandle open = handle("open", ValueLayout.ADDRESS, ValueLayout.JAVA_INT);
    try (Arena arena = Arena.ofConfined()) {
      return (int) open.invokeExact(arena.allocateFrom(file), READ_ONLY);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static int call(String function, int... arguments) {
    ValueLayout[] layouts = new ValueLayout[arguments.length];
    Arrays.fill(layouts, ValueLayout.JAVA_INT);
    try {
      return (int)
          handle(function, layouts).invokeWithArguments(Arrays.stream(arguments).boxed().toArray());
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle handle(String function, ValueLayout... arguments) {
    MemorySegment symbol = Linker.nativeLinker().defaultLookup().findOrThrow(function);
    return Linker.nativeLinker()
        .downcallHandle(symbol, FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments));
  }
}
