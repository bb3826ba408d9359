package pando.fabric.local;

import java.util.ArrayList;
import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.layout.ServerLayout;
import pando.fabric.mapped.MappedFabric;
import pando.fabric.mapped.MemoryServerLink;
import pando.fabric.memory.NativeMemory;
import pando.fabric.server.MemoryServer;
import pando.fabric.server.PoolOptions;

/** A pool of memory servers inside this JVM. */
public final class LocalFabric {
  private final List<NativeMemory> memories = new ArrayList<>();
  private final List<MemoryServer> servers = new ArrayList<>();
  private final List<MemoryServerLink> links = new ArrayList<>();

  private LocalFabric() {}

  /** Starts memory servers and joins them. Closing the fabric ends both and frees their memory. */
  public static Fabric open(PoolOptions options) {
    LocalFabric local = new LocalFabric();
    try {
      for (int number = 0; number < options.memoryServers(); number++) {
        local.addServer(number, options);
      }
    } catch (RuntimeException | Error e) {
      local.end();
      throw e;
    }
    return new MappedFabric("local", local.links, options.seed(), local::end);
  }

  private void addServer(int number, PoolOptions options) {
    NativeMemory memory = NativeMemory.allocate(MemoryServer.segmentBytes(options));
    memories.add(memory);
    servers.add(MemoryServer.start(number, 0, memory.segment(), options));
    ServerLayout layout = new ServerLayout(options.bytesPerServer(), options.chunkBytes());
    links.add(new MemoryServerLink(number, memory.segment(), layout));
  }

  private void end() {
    servers.forEach(MemoryServer::close);
    memories.forEach(NativeMemory::close);
  }
}
