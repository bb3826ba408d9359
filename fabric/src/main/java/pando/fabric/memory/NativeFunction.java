package pando.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A function of the C library, or of another one. Not meant for hot paths. */
public final class NativeFunction {
  private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private final String name;
  private final @Nullable MethodHandle handle;

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

  NativeFunction(String name, FunctionDescriptor descriptor, Linker.Option... options) {
    this.name = name;
    Linker.Option[] all =
        Stream.concat(Stream.of(options), Stream.of(Linker.Option.captureCallState("errno")))
            .toArray(Linker.Option[]::new);
    this.handle = NativeMemory.systemFunction(name, descriptor, all).orElse(null);
  }

  /** Links a function of a shared library, whose parameters are {@code long} or {@code int}. */
  NativeFunction(SymbolLookup library, String name, FunctionDescriptor descriptor) {
    this.name = name;
    this.handle =
        NativeMemory.function(library, name, descriptor, Linker.Option.captureCallState("errno"))
            .orElse(null);
  }

  /** Links a function that is known by its address. */
  NativeFunction(String name, long address, FunctionDescriptor descriptor) {
    this.name = name;
    MethodHandle any =
        NativeMemory.functionByAddress(descriptor, Linker.Option.captureCallState("errno"));
    this.handle = MethodHandles.insertArguments(any, 0, MemorySegment.ofAddress(address));
  }

  /** Returns the name of the function. */
  public String name() {
    return name;
  }

  /** Returns whether the library has the function. */
  public boolean isLinked() {
    return handle != null;
  }

  /**
   * Calls the function.
   *
   * @param purpose the purpose of the call and its values, for the message of a failure
   * @throws NativeMemoryException with the name of the error if the function returns -1
   */
  long call(String purpose, Object... arguments) {
    long result = tryCall(arguments);
    if (result < 0) {
      throw failure(purpose, (int) -result);
    }
    return result;
  }

  /** Calls the function; returns its result, or minus its error number. */
  long tryCall(Object... arguments) {
    Returned returned = invoke(arguments);
    return returned.value == -1 ? -returned.errno : returned.value;
  }

  /** Calls the function. */
  public Returned invoke(Object... arguments) {
    if (handle == null) {
      throw new NativeMemoryException("no such function in the library: name=" + name);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(CALL_STATE);
      List<Object> all = new ArrayList<>(arguments.length + 1);
      all.add(state);
      all.addAll(List.of(arguments));
      long result = ((Number) handle.invokeWithArguments(all)).longValue();
      return new Returned(result, (int) ERRNO.get(state, 0L));
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
