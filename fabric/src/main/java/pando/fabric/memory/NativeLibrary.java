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
   * Links a function, if the library has it.
   *
   * @param result {@code long} (a pointer, too) or {@code int}
   */
  public NativeFunction function(String name, Class<?> result) {
    return NativeFunction.of(lookup, name, result);
  }

  /**
   * Returns a handle for functions that return an {@code int} and are known by their address: that
   * is its first parameter, a {@link java.lang.foreign.MemorySegment}. Three words follow, of which
   * a function reads as many as it has parameters. For functions that return at once: no collection
   * of garbage can begin meanwhile.
   */
  public static MethodHandle criticalHandle() {
    return NativeMemory.functionByAddress(
        FunctionDescriptor.of(
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG),
        Linker.Option.critical(false));
  }
}
