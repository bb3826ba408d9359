package pando.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A range of native memory that can be freed: after {@link #close()} every access through its
 * segment throws {@link IllegalStateException}, in all threads.
 *
 * <p>The only class with restricted calls: it makes segments of raw addresses, and links functions.
 */
public final class NativeMemory implements AutoCloseable {
  /** Alignment of large allocations: the size of a huge page. */
  public static final long HUGE_PAGE_BYTES = 2L << 20;

  private static final int NO_FILE = -1;

  private static final AtomicLong IN_USE = new AtomicLong();

  private final Arena arena;
  private final MemorySegment segment;
  private final int file;

  private NativeMemory(Arena arena, MemorySegment segment, int file) {
    this.arena = arena;
    this.segment = segment;
    this.file = file;
    IN_USE.addAndGet(segment.byteSize());
  }

  /** Returns the bytes of all such memory of this process that was not freed. */
  public static long bytesInUse() {
    return IN_USE.get();
  }

  /**
   * Allocates zeroed memory, which is committed when it is first accessed. Aligned to pages at
   * least, to huge pages if it is large enough for one; asks for huge pages from 16 MiB on.
   *
   * @param bytes at least 1
   * @throws NativeMemoryException if the system refuses
   */
  public static NativeMemory allocate(long bytes) {
    checkSize(bytes);
    if (!Linux.isAvailable()) {
      return portable(bytes);
    }
    long mappedBytes = Mapping.roundUp(bytes);
    return ofMapping(Mapping.anonymous(mappedBytes), mappedBytes, bytes);
  }

  /**
   * Allocates zeroed memory as {@link #allocate} does, whose pages {@link #fork} shares.
   *
   * @param bytes at least 1
   * @throws NativeMemoryException if the system refuses
   */
  public static NativeMemory forkable(long bytes) {
    checkSize(bytes);
    if (!Linux.isAvailable() || !Linux.MEMFD_CREATE.isLinked()) {
      return portable(bytes);
    }
    long mappedBytes = Mapping.roundUp(bytes);
    int file = MemoryFile.create("pando-forkable", mappedBytes, 0);
    try {
      return ofMapping(Mapping.shared(mappedBytes, file), mappedBytes, bytes, file);
    } catch (RuntimeException | Error e) {
      MemoryFile.close(file);
      throw e;
    }
  }

  /**
   * Returns independent memory that starts as a copy of this. If this memory is {@link #forkable},
   * pages are shared until the fork writes to them. This memory must not change while it has forks.
   */
  public NativeMemory fork() {
    long bytes = segment.byteSize();
    if (file == NO_FILE) {
      NativeMemory copy = allocate(bytes);
      copy.segment.copyFrom(segment);
      return copy;
    }
    long mappedBytes = Mapping.roundUp(bytes);
    return ofMapping(Mapping.copyOnWrite(mappedBytes, file), mappedBytes, bytes);
  }

  private static void checkSize(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("invalid size: bytes=" + bytes + ", minimum=1");
    }
  }

  /**
   * Allocates memory that is committed and cleared at once, as there is no portable way to delay
   * that.
   */
  private static NativeMemory portable(long bytes) {
    Arena arena = Arena.ofShared();
    return new NativeMemory(arena, arena.allocate(bytes, Linux.PAGE_BYTES), NO_FILE);
  }

  /**
   * Asks for huge pages in a part of the memory, or for small ones: for a part that is used here
   * and there, of which huge ones would commit far more than is used.
   *
   * @param offset of the part, rounded up to a page
   * @param bytes of the part, rounded down to pages
   */
  public synchronized void askForHugePages(long offset, long bytes, boolean huge) {
    if (Linux.isAvailable() && arena.scope().isAlive()) {
      MemorySegment part = segment.asSlice(offset, bytes);
      long start = Math.ceilDiv(part.address(), Linux.PAGE_BYTES) * Linux.PAGE_BYTES;
      long end = (part.address() + bytes) / Linux.PAGE_BYTES * Linux.PAGE_BYTES;
      Mapping.askForHugePages(start, Math.max(end - start, 0), huge);
    }
  }

  /**
   * Gives the pages of a part of the memory back to the system, as far as it takes them: then they
   * are zero, and committed again when they are used. The rest of the part keeps its bytes. Where
   * there were huge pages, there are small ones from then on: the system would fill huge ones up.
   *
   * @param offset of the part, rounded up to a page
   * @param bytes of the part, rounded down to pages
   */
  public synchronized void discard(long offset, long bytes) {
    long address = segment.address() + offset;
    long start = Math.ceilDiv(address, Linux.PAGE_BYTES) * Linux.PAGE_BYTES;
    long end = (address + bytes) / Linux.PAGE_BYTES * Linux.PAGE_BYTES;
    // What is unmapped may be another's by now.
    boolean isOurs = file == NO_FILE && arena.scope().isAlive();
    if (start < end && isOurs && Linux.isAvailable()) {
      long huge = Math.max(start / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES - segment.address(), 0);
      long hugeEnd = Math.ceilDiv(end, HUGE_PAGE_BYTES) * HUGE_PAGE_BYTES - segment.address();
      askForHugePages(huge, Math.min(hugeEnd, segment.byteSize()) - huge, false);
      Mapping.discard(start, end - start);
    }
  }

  /** Returns the memory, always as the same segment. */
  public MemorySegment segment() {
    return segment;
  }

  /** Frees the memory. A second call does nothing. */
  @Override
  public synchronized void close() {
    if (arena.scope().isAlive()) {
      arena.close();
      IN_USE.addAndGet(-segment.byteSize());
      if (file != NO_FILE) {
        MemoryFile.close(file);
      }
    }
  }

  /**
   * Wraps a mapping that {@link Mapping} made; unmaps it when it is closed, or if wrapping fails.
   */
  static NativeMemory ofMapping(long address, long mappedBytes, long bytes) {
    return ofMapping(address, mappedBytes, bytes, NO_FILE);
  }

  private static NativeMemory ofMapping(long address, long mappedBytes, long bytes, int file) {
    try {
      Arena arena = Arena.ofShared();
      return new NativeMemory(arena, segmentOf(address, mappedBytes, bytes, arena), file);
    } catch (RuntimeException | Error e) {
      // Wrapping failed, so the arena, if it exists, will never be closed.
      Mapping.unmap(address, mappedBytes);
      throw e;
    }
  }

  @SuppressWarnings("restricted")
  private static MemorySegment segmentOf(long address, long mappedBytes, long bytes, Arena arena) {
    return MemorySegment.ofAddress(address)
        .reinterpret(bytes, arena, ended -> Mapping.unmap(ended.address(), mappedBytes));
  }

  /** Links a function of a shared library, if both exist. */
  @SuppressWarnings("restricted")
  static Optional<MethodHandle> libraryFunction(
      String library, String name, FunctionDescriptor descriptor, Linker.Option... options) {
    return library(library)
        .flatMap(lookup -> lookup.find(name))
        .map(address -> Linker.nativeLinker().downcallHandle(address, descriptor, options));
  }

  /** Loads a shared library for good, if it exists. */
  @SuppressWarnings("restricted")
  static Optional<SymbolLookup> library(String name) {
    try {
      return Optional.of(SymbolLookup.libraryLookup(name, Arena.global()));
    } catch (IllegalArgumentException noSuchLibrary) {
      return Optional.empty();
    }
  }

  /**
   * Returns a handle for functions that are known by their address, which is its first parameter.
   */
  @SuppressWarnings("restricted")
  static MethodHandle functionByAddress(FunctionDescriptor descriptor, Linker.Option... options) {
    return Linker.nativeLinker().downcallHandle(descriptor, options);
  }

  /** Returns memory that a library has made, and may free: only while it is known not to. */
  @SuppressWarnings("restricted")
  public static MemorySegment at(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }
}
