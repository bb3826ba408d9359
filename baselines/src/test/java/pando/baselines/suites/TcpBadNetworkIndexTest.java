package pando.baselines.suites;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import pando.fabric.Fabric;
import pando.index.IndexProcess;
import pando.index.Seeds;

/**
 * Every system over a network with delay and loss: this process is on the third machine of {@code
 * testbed/network}, and a process on each of the others is a memory server.
 */
@Tag("network")
@EnabledIfSystemProperty(
    named = "pando.network",
    matches = "true",
    disabledReason = "needs the machines of testbed/network")
class TcpBadNetworkIndexTest extends TcpIndexTest {
  private static final List<IndexProcess> MEMORY_SERVERS = new ArrayList<>();

  @TempDir private static Path directory;

  @BeforeAll
  static void startMemoryServers() throws IOException {
    Files.writeString(token(), "Sixteen bytes, or more.");
    Files.setPosixFilePermissions(token(), PosixFilePermissions.fromString("rw-------"));
    for (int i = 0; i < 2; i++) {
      MEMORY_SERVERS.add(IndexProcess.tcpMemoryServerOn(i + 1, i, token()));
    }
  }

  @AfterAll
  static void stopMemoryServers() throws IOException {
    for (IndexProcess server : MEMORY_SERVERS) {
      server.close();
    }
  }

  @Override
  Fabric open(long seed) throws IOException {
    for (IndexProcess server : MEMORY_SERVERS) {
      server.startAnew();
    }
    List<String> places = MEMORY_SERVERS.stream().map(IndexProcess::place).toList();
    return IndexProcess.tcpFabric(places, token(), seed);
  }

  @Override
  int operations() {
    return Seeds.count(10, 20, 2_000);
  }

  private static Path token() {
    return directory.resolve("token");
  }
}
