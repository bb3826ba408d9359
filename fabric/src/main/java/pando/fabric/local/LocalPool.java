package pando.fabric.local;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.base.Fences;
import pando.fabric.layout.ServerLayout;
import pando.fabric.mapped.GrowingMemory;
import pando.fabric.mapped.MappedFabric;
import pando.fabric.mapped.MemoryServerLink;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.server.MemoryServer;
import pando.fabric.server.PoolMemory;
import pando.fabric.server.PoolOptions;

/** Memory servers inside this JVM, and their memory. */
public final class LocalPool implements AutoCloseable {
  static final String NAME = "local";

  private final ServerLayout layout;
  private final List<NativeMemory> memories = new ArrayList<>();
  private final List<MemoryServer> servers = new ArrayList<>();
  private final Fences fences = new Fences();

  /** The fabrics that do not close the pool. */
  private final Map<ComputeServer, Fabric> attached = new ConcurrentHashMap<>();

  private LocalPool(ServerLayout layout) {
    this.layout = layout;
  }

  /** Makes a memory server over its memory. */
  private interface ServerSource {
    MemoryServer make(int number, NativeMemory memory);
  }

  /** Starts memory servers with processor threads. */
  public static LocalPool start(PoolOptions options) {
    return of(
        options,
        NativeMemory::allocate,
        (number, memory) ->
            MemoryServer.start(
                number, 0, memory.segment(), options, new GrowingMemory(memory), true));
  }

  /**
   * Makes memory servers without processor threads. The caller must pass CALLs to {@link
   * MemoryServer#serve}; a CALL through {@link #fabric} is never answered.
   */
  public static LocalPool unattended(PoolOptions options) {
    return of(
        options,
        NativeMemory::forkable,
        (number, memory) ->
            MemoryServer.unattended(number, memory.segment(), options, PoolMemory.COMMITTED));
  }

  /**
   * Returns an independent pool that starts with the contents of this one. This pool must be {@link
   * #unattended}, and must not change while it has forks. In the fork no compute server is fenced.
   */
  public LocalPool fork() {
    LocalPool pool = new LocalPool(layout);
    pool.fill(
        servers.size(),
        number -> memories.get(number).fork(),
        (number, memory) -> servers.get(number).fork(memory.segment()));
    return pool;
  }

  /**
   * Starts an {@link #unattended} memory server anew, with empty memory and all chunks free.
   *
   * @param number of the memory server
   */
  public void wipe(int number) {
    segment(number).fill((byte) 0);
    servers.set(number, servers.get(number).anew(segment(number)));
  }

  private static LocalPool of(
      PoolOptions options, LongFunction<NativeMemory> memory, ServerSource source) {
    LocalPool pool = new LocalPool(MemoryServer.layout(options));
    pool.fill(options.memoryServers(), number -> memory.apply(pool.layout.bytes()), source);
    return pool;
  }

  /**
   * Returns a fabric over the memory servers.
   *
   * @param name name of the kind of fabric
   * @param seed start of the fabric's randomness
   * @return a fabric that closes the pool when it is closed; if this method fails, it closes the
   *     pool, too
   */
  public Fabric fabric(String name, long seed) {
    try {
      return new MappedFabric(name, links(), seed, fences, null, false, this::close);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * Returns a fabric of a compute server, as if in a process of its own, which can be {@linkplain
   * Fabric#fence fenced} by any other fabric of this pool. A CALL that it gives up, as it is not
   * answered within 60 seconds or as the fabric is closed, is not waited for.
   *
   * @param computeServer the name of the compute server
   * @param seed start of the fabric's randomness
   * @return a fabric that leaves the pool open when it is closed, and is closed with the pool
   * @throws IllegalStateException if there is a fabric of that name already
   * @throws pando.fabric.FencedException if the epoch is refused
   */
  public Fabric attach(ComputeServer computeServer, long seed) {
    fences.checkAccepted(computeServer);
    Runnable ending = () -> attached.remove(computeServer);
    Fabric fabric = new MappedFabric(NAME, links(), seed, fences, computeServer, true, ending);
    if (attached.putIfAbsent(computeServer, fabric) != null) {
      throw new IllegalStateException("a name that is in use: " + computeServer);
    }
    return fabric;
  }

  private List<MemoryServerLink> links() {
    return servers.stream()
        .map(server ->
            new MemoryServerLink(server.number(), segment(server.number()), layout, server))
        .toList();
  }

  /** Returns a memory server. */
  public MemoryServer server(int number) {
    return servers.get(number);
  }

  /** Returns all memory of a memory server. */
  public MemorySegment segment(int number) {
    return memories.get(number).segment();
  }

  /** Ends the memory servers and frees their memory. */
  @Override
  public void close() {
    List<Runnable> steps = new ArrayList<>();
    attached.values().forEach(fabric -> steps.add(fabric::close));
    servers.forEach(server -> steps.add(server::close));
    memories.forEach(memory -> steps.add(memory::close));
    Closing.all(steps);
  }

  private void fill(int count, IntFunction<NativeMemory> memorySource, ServerSource source) {
    try {
      for (int number = 0; number < count; number++) {
        NativeMemory memory = memorySource.apply(number);
        memories.add(memory);
        // Behind the DRAM a word and a slot of the mailbox are used here and there.
        long dramBytes = layout.dramBytes();
        memory.askForHugePages(dramBytes, layout.bytes() - dramBytes, false);
        servers.add(source.make(number, memory));
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }
}
