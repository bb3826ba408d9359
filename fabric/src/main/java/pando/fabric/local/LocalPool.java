package pando.fabric.local;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.layout.ServerLayout;
import pando.fabric.mapped.MappedFabric;
import pando.fabric.mapped.MemoryServerLink;
import pando.fabric.memory.NativeMemory;
import pando.fabric.server.MemoryServer;
import pando.fabric.server.PoolOptions;

/** Memory servers inside this JVM, and their memory. */
public final class LocalPool implements AutoCloseable {
  private final List<NativeMemory> memories = new ArrayList<>();
  private final List<MemoryServer> servers = new ArrayList<>();
  private final List<MemoryServerLink> links = new ArrayList<>();

  private LocalPool() {}

  /** Makes a memory server over its memory. */
  interface ServerSource {
    MemoryServer make(int number, MemorySegment segment);
  }

  /**
   * Makes memory servers without processor threads: whoever has the pool hands their CALLs to
   * {@link MemoryServer#serve}. A CALL through {@link #fabric} finds nobody.
   */
  public static LocalPool unattended(PoolOptions options) {
    return of(options, (number, segment) -> MemoryServer.unattended(number, segment, options));
  }

  static LocalPool of(PoolOptions options, ServerSource source) {
    LocalPool pool = new LocalPool();
    try {
      for (int number = 0; number < options.memoryServers(); number++) {
        pool.add(number, options, source);
      }
    } catch (RuntimeException | Error e) {
      pool.close();
      throw e;
    }
    return pool;
  }

  /**
   * Joins the memory servers.
   *
   * @param name name of the kind of fabric
   * @param seed start of the fabric's randomness
   * @return a fabric whose end is the pool's
   */
  public Fabric fabric(String name, long seed) {
    return new MappedFabric(name, links, seed, this::close);
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
    servers.forEach(MemoryServer::close);
    memories.forEach(NativeMemory::close);
  }

  private void add(int number, PoolOptions options, ServerSource source) {
    NativeMemory memory = NativeMemory.allocate(MemoryServer.segmentBytes(options));
    memories.add(memory);
    servers.add(source.make(number, memory.segment()));
    ServerLayout layout = new ServerLayout(options.bytesPerServer(), options.chunkBytes());
    links.add(new MemoryServerLink(number, memory.segment(), layout));
  }
}
