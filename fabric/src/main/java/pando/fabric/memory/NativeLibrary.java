package pando.fabric.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** A shared library that this process has loaded, for good. Pointers are passed as addresses. */
public final class NativeLibrary {
  private final SymbolLookup lookup;

  private NativeLibrary(SymbolLookup lookup) {
    this.lookup = lookup;
  }

  /** Loads a library of the system, if it is there. */
  public static Optional<NativeLibrary> load(String name) {
    return NativeMemory.library(name).map(NativeLibrary::new);
  }

  /**
   * Links a function.
   *
   * @param result {@code long} (a pointer, too) or {@code int}
   * @param parameters each {@code long} or {@code int}
   */
  public NativeFunction function(String name, Class<?> result, Class<?>... parameters) {
    return new NativeFunction(lookup, name, descriptor(result, parameters));
  }

  /**
   * Returns a handle for functions that are known by their address, which is its first parameter, a
   * {@link java.lang.foreign.MemorySegment}. For functions that return at once: no collection of
   * garbage can begin meanwhile.
   *
   * @param result {@code long} or {@code int}
   * @param parameters each {@code long} or {@code int}
   */
  public static MethodHandle byAddress(Class<?> result, Class<?>... parameters) {
    return NativeMemory.functionByAddress(
        descriptor(result, parameters), Linker.Option.critical(false));
  }

  /**
   * Links a function that is known by its address.
   *
   * @param name of the function, for messages
   * @param result {@code long} or {@code int}
   * @param parameters each {@code long} or {@code int}
   */
  public static NativeFunction functionAt(
      String name, long address, Class<?> result, Class<?>... parameters) {
    return new NativeFunction(name, address, descriptor(result, parameters));
  }

  static FunctionDescriptor descriptor(Class<?> result, Class<?>... parameters) {
    ValueLayout[] layouts = new ValueLayout[parameters.length];
    for (int i = 0; i < layouts.length; i++) {
      layouts[i] = layout(parameters[i]);
    }
    return FunctionDescriptor.of(layout(result), layouts);
  }

  private static ValueLayout layout(Class<?> type) {
    return type == long.class ? ValueLayout.JAVA_LONG : ValueLayout.JAVA_INT;
  }
}
