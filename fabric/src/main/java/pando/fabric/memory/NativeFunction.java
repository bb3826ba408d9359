package pando.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A function of the C library, or of another one. Not meant for hot paths.
 *
 * <p>All functions are called by one method handle with {@value #ARGUMENTS_MAX} words, as a handle
 * for each signature takes long to make. A function does not read words beyond its parameters, and
 * reads the lower half of a word for a parameter of 32 bits. That holds where all these words are
 * passed in registers, as on x86-64 and AArch64.
 */
public final class NativeFunction {
  private static final int ARGUMENTS_MAX = 6;

  /** Parameters of a variadic function in front of its variable ones. */
  private static final int FIXED_PARAMETERS = 2;

  private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private final String name;
  private final @Nullable MemorySegment address;
  private final boolean returnsInt;
  private final boolean isVariadic;

  /**
   * What a function returned.
   *
   * @param value its result; a pointer is an address
   * @param errno the error number; means something only if the result says that it failed
   */
  public record Returned(long value, int errno) {
    /** Returns the error's name and number. */
    public String error() {
      return Errno.name(errno);
    }
  }

  /** Made when the first function is called. */
  private static final class Handle {
    private static final MethodHandle CALL = handle();
  }

  /** Made when the first function with variable arguments is called. */
  private static final class VariadicHandle {
    private static final MethodHandle CALL =
        handle(Linker.Option.firstVariadicArg(FIXED_PARAMETERS));
  }

  private NativeFunction(
      String name, Optional<MemorySegment> address, Class<?> result, boolean isVariadic) {
    this.name = name;
    this.address = address.orElse(null);
    this.returnsInt = result == int.class;
    this.isVariadic = isVariadic;
  }

  /**
   * Links a function of a shared library, if it has it.
   *
   * @param result {@code long} (a pointer, too) or {@code int}
   */
  static NativeFunction of(SymbolLookup library, String name, Class<?> result) {
    return new NativeFunction(name, library.find(name), result, false);
  }

  /** Links a function of the C library. */
  static NativeFunction ofSystem(String name, Class<?> result) {
    return of(Linker.nativeLinker().defaultLookup(), name, result);
  }

  /** Links a function of the C library with two fixed parameters and variable ones. */
  static NativeFunction ofSystemVariadic(String name, Class<?> result) {
    SymbolLookup system = Linker.nativeLinker().defaultLookup();
    return new NativeFunction(name, system.find(name), result, true);
  }

  private static MethodHandle handle(Linker.Option... options) {
    MemoryLayout[] words = new MemoryLayout[ARGUMENTS_MAX];
    Arrays.fill(words, ValueLayout.JAVA_LONG);
    Linker.Option errno = Linker.Option.captureCallState("errno");
    return NativeMemory.functionByAddress(
        FunctionDescriptor.of(ValueLayout.JAVA_LONG, words),
        Stream.concat(Stream.of(options), Stream.of(errno)).toArray(Linker.Option[]::new));
  }

  /** Returns the name of the function. */
  public String name() {
    return name;
  }

  /** Returns whether the library has the function. */
  boolean isLinked() {
    return address != null;
  }

  /**
   * Calls the function.
   *
   * @param purpose the purpose of the call and its values, for the message of a failure
   * @throws NativeMemoryException with the name of the error if the function returns -1
   */
  long call(String purpose, long... arguments) {
    long result = tryCall(arguments);
    if (result < 0) {
      throw failure(purpose, (int) -result);
    }
    return result;
  }

  /** Calls the function; returns its result, or minus its error number. */
  long tryCall(long... arguments) {
    Returned returned = invoke(arguments);
    return returned.value == -1 ? -returned.errno : returned.value;
  }

  /**
   * Calls the function.
   *
   * @param arguments at most {@value #ARGUMENTS_MAX}; a pointer is an address
   */
  public Returned invoke(long... arguments) {
    if (address == null) {
      throw new NativeMemoryException("no such function in the library: name=" + name);
    }
    if (arguments.length > ARGUMENTS_MAX) {
      throw new IllegalArgumentException(
          "too many arguments: name=" + name + ", arguments=" + arguments.length);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(CALL_STATE);
      long result = call(address, state, Arrays.copyOf(arguments, ARGUMENTS_MAX));
      return new Returned(returnsInt ? (int) result : result, (int) ERRNO.get(state, 0L));
    }
  }

  private long call(MemorySegment function, MemorySegment state, long[] a) {
    try {
      return isVariadic
          ? (long)
              VariadicHandle.CALL.invokeExact(function, state, a[0], a[1], a[2], a[3], a[4], a[5])
          : (long) Handle.CALL.invokeExact(function, state, a[0], a[1], a[2], a[3], a[4], a[5]);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError("a native function throws nothing: name=" + name, e);
    }
  }

  /** Returns the exception for a failed call. */
  NativeMemoryException failure(String purpose, int errno) {
    return new NativeMemoryException(
        name + " failed: error=" + Errno.name(errno) + ", purpose=" + purpose);
  }
}
