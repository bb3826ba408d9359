package pando.fabric.memory;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compare-exchange of 16 aligned bytes, which Java itself does not have, through the compiler's
 * {@code libatomic}. Available if that library is installed and lock-free for 16 bytes: a lock
 * inside the library would not exclude other processes.
 */
public final class Atomic16 {
  private static final String LIBRARY = "libatomic.so.1";
  private static final long WIDTH = 16;
  private static final int SEQ_CST = 5;

  private static final @Nullable MethodHandle COMPARE_EXCHANGE =
      isLockFree() ? compareExchangeFunction() : null;

  private Atomic16() {}

  /** Returns whether this machine has a 16-byte compare-exchange. */
  public static boolean isAvailable() {
    return COMPARE_EXCHANGE != null;
  }

  /**
   * Stores the desired 16 bytes if those at the address equal the expected ones; otherwise replaces
   * the expected ones by those found. The caller must keep both memory ranges alive.
   *
   * @param address native address, 16-byte aligned
   * @param expected native address, 16-byte aligned, of the expected bytes
   * @param desiredLow first 8 desired bytes
   * @param desiredHigh last 8 desired bytes
   * @return whether the store took place
   */
  public static boolean compareAndExchange(
      long address, long expected, long desiredLow, long desiredHigh) {
    MethodHandle function = COMPARE_EXCHANGE;
    if (function == null) {
      throw new UnsupportedOperationException(
          "no lock-free 16-byte compare-exchange on this machine: library=" + LIBRARY);
    }
    try {
      return (boolean)
          function.invokeExact(address, expected, desiredLow, desiredHigh, SEQ_CST, SEQ_CST);
    } catch (Throwable e) {
      throw thrown(e);
    }
  }

  /**
   * On x86-64 the library decides by the processor's flag. Its own function is of no use there: it
   * also covers loads, which this class does not use.
   */
  private static boolean isLockFree() {
    if (!Linux.isAvailable()) {
      return false;
    }
    String architecture = System.getProperty("os.arch", "");
    return architecture.equals("amd64") ? processorHasCx16() : libraryIsLockFree();
  }

  private static boolean processorHasCx16() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("flags"))
          .anyMatch(line -> (line + " ").contains(" cx16 "));
    } catch (IOException unreadable) {
      return false;
    }
  }

  private static boolean libraryIsLockFree() {
    Optional<MethodHandle> function =
        NativeMemory.libraryFunction(
            LIBRARY,
            "__atomic_is_lock_free",
            FunctionDescriptor.of(
                ValueLayout.JAVA_BOOLEAN, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    try {
      // The second argument is an address with the alignment that all operands will have.
      return function.isPresent() && (boolean) function.get().invokeExact(WIDTH, WIDTH);
    } catch (Throwable e) {
      throw thrown(e);
    }
  }

  /** Both x86-64 and AArch64 pass the 16 desired bytes as two registers in a row. */
  private static @Nullable MethodHandle compareExchangeFunction() {
    return NativeMemory.libraryFunction(
            LIBRARY,
            "__atomic_compare_exchange_16",
            FunctionDescriptor.of(
                ValueLayout.JAVA_BOOLEAN,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT),
            Linker.Option.critical(false))
        .orElse(null);
  }

  private static AssertionError thrown(Throwable e) {
    return new AssertionError("a native function throws nothing: library=" + LIBRARY, e);
  }
}
