package pando.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A system call that reports failure by -1 and {@code errno}. Not meant for hot paths. */
final class NativeFunction {
  private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      CALL_STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private final String name;
  private final @Nullable MethodHandle handle;

  NativeFunction(String name, FunctionDescriptor descriptor, Linker.Option... options) {
    this.name = name;
    Linker.Option[] all =
        Stream.concat(Stream.of(options), Stream.of(Linker.Option.captureCallState("errno")))
            .toArray(Linker.Option[]::new);
    this.handle = NativeMemory.systemFunction(name, descriptor, all).orElse(null);
  }

  /** Returns whether the C library has the function. */
  boolean isLinked() {
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
    if (handle == null) {
      throw new NativeMemoryException("no such function in the C library: name=" + name);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(CALL_STATE);
      List<Object> all = new ArrayList<>(arguments.length + 1);
      all.add(state);
      all.addAll(List.of(arguments));
      long result = ((Number) handle.invokeWithArguments(all)).longValue();
      return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
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
