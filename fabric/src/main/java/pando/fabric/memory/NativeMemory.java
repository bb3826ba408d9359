package pando.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * A range of native memory with an end of life: after {@link #close()} every access through its
 * segment throws {@link IllegalStateException}, also in other threads.
 *
 * <p>The one class that makes segments of raw addresses and links native functions.
 */
public final class NativeMemory implements AutoCloseable {
  /** What the larger allocations are aligned to. */
  public static final long HUGE_PAGE_BYTES = 2L << 20;

  private final Arena arena;
  private final MemorySegment segment;

  private NativeMemory(Arena arena, MemorySegment segment) {
    this.arena = arena;
    this.segment = segment;
  }

  /**
   * Allocates zeroed memory that costs nothing until it is touched. Asks for huge pages where it is
   * large enough for one; page aligned at least.
   *
   * @param bytes at least 1
   * @throws NativeMemoryException where the system refuses
   */
  public static NativeMemory allocate(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("invalid size: bytes=" + bytes + ", minimum=1");
    }
    if (!Linux.isAvailable()) {
      // Committed and cleared at once, but there is no portable way to ask for better.
      Arena arena = Arena.ofShared();
      return new NativeMemory(arena, arena.allocate(bytes, Linux.PAGE_BYTES));
    }
    long mappedBytes = Mapping.roundUp(bytes);
    return ofMapping(Mapping.anonymous(mappedBytes), mappedBytes, bytes);
  }

  /** Returns the bytes. One segment for its whole life. */
  public MemorySegment segment() {
    return segment;
  }

  /** Gives the memory back. Does nothing the second time. */
  @Override
  public synchronized void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }

  /** Wraps a mapping that {@link Mapping} made, and unmaps it at the end. */
  static NativeMemory ofMapping(long address, long mappedBytes, long bytes) {
    Arena arena = Arena.ofShared();
    return new NativeMemory(arena, segmentOf(address, mappedBytes, bytes, arena));
  }

  @SuppressWarnings("restricted")
  private static MemorySegment segmentOf(long address, long mappedBytes, long bytes, Arena arena) {
    return MemorySegment.ofAddress(address)
        .reinterpret(bytes, arena, ended -> Mapping.unmap(ended.address(), mappedBytes));
  }

  /** Links a function of the C library. */
  static Optional<MethodHandle> systemFunction(
      String name, FunctionDescriptor descriptor, Linker.Option... options) {
    return function(Linker.nativeLinker().defaultLookup(), name, descriptor, options);
  }

  /** Links a function of a shared library, if both exist. */
  @SuppressWarnings("restricted")
  static Optional<MethodHandle> libraryFunction(
      String library, String name, FunctionDescriptor descriptor, Linker.Option... options) {
    try {
      SymbolLookup lookup = SymbolLookup.libraryLookup(library, Arena.global());
      return function(lookup, name, descriptor, options);
    } catch (IllegalArgumentException noSuchLibrary) {
      return Optional.empty();
    }
  }

  @SuppressWarnings("restricted")
  private static Optional<MethodHandle> function(
      SymbolLookup lookup, String name, FunctionDescriptor descriptor, Linker.Option... options) {
    return lookup
        .find(name)
        .map(address -> Linker.nativeLinker().downcallHandle(address, descriptor, options));
  }
}
