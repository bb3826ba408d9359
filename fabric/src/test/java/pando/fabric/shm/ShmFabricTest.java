package pando.fabric.shm;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import pando.fabric.Fabric;
import pando.fabric.FabricContract;
import pando.fabric.server.PoolOptions;

/** The memory servers live in this process too, but are reached as if they did not. */
@EnabledOnOs(OS.LINUX)
class ShmFabricTest extends FabricContract {
  @TempDir private Path directory;

  private final List<ShmMemoryServer> servers = new ArrayList<>();

  @Override
  protected Fabric open(PoolOptions options) {
    System.setProperty(Registry.DIRECTORY_PROPERTY, directory.resolve("registry").toString());
    List<String> names = new ArrayList<>();
    for (int i = 0; i < options.memoryServers(); i++) {
      names.add("memory-" + i);
      servers.add(ShmMemoryServer.start(names.get(i), i, options));
    }
    return ShmFabric.attach(names, options.seed());
  }

  @Override
  protected boolean fences() {
    return false;
  }

  @Override
  protected void stop() {
    servers.forEach(ShmMemoryServer::close);
    System.clearProperty(Registry.DIRECTORY_PROPERTY);
  }
}
