package pando.cluster.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.embedded.ExitHandler;
import org.apache.zookeeper.server.embedded.ZooKeeperServerEmbedded;
import pando.cluster.CoordinatorLostException;
import pando.cluster.EmbeddedCoordinator;

/**
 * A ZooKeeper server in this process, alone: for a cluster on one machine, which ends with it. It
 * serves no administration, and no four-letter words. Who can reach its address can read and change
 * what it keeps.
 */
public final class EmbeddedZooKeeper implements EmbeddedCoordinator {
  private static final long START_MILLIS = TimeUnit.SECONDS.toMillis(30);
  private static final int TICK_MILLIS = 500;
  private static final int SESSION_MILLIS_MAX = 60_000;

  private final InetSocketAddress address;
  private final ZooKeeperServerEmbedded server;

  private EmbeddedZooKeeper(InetSocketAddress address, ZooKeeperServerEmbedded server) {
    this.address = address;
    this.server = server;
  }

  /**
   * Starts a server.
   *
   * @param address to listen on; port 0 takes a free one
   * @param directory for what it keeps
   * @throws CoordinatorLostException if it does not start
   */
  public static EmbeddedZooKeeper start(InetSocketAddress address, Path directory) {
    QuietLog.use();
    return startAt(address.getPort() == 0 ? withFreePort(address) : address, directory);
  }

  /** ZooKeeper cannot tell which port it took, so one is looked for before. */
  private static InetSocketAddress withFreePort(InetSocketAddress address) {
    try (ServerSocket socket = new ServerSocket(0, 1, address.getAddress())) {
      return new InetSocketAddress(address.getAddress(), socket.getLocalPort());
    } catch (IOException e) {
      throw new CoordinatorLostException("no port is free: address=" + address, e);
    }
  }

  private static EmbeddedZooKeeper startAt(InetSocketAddress address, Path directory) {
    Properties settings = new Properties();
    settings.setProperty("clientPortAddress", address.getAddress().getHostAddress());
    settings.setProperty("clientPort", String.valueOf(address.getPort()));
    settings.setProperty("dataDir", directory.toAbsolutePath().toString());
    settings.setProperty("tickTime", String.valueOf(TICK_MILLIS));
    settings.setProperty("maxSessionTimeout", String.valueOf(SESSION_MILLIS_MAX));
    settings.setProperty("admin.enableServer", "false");
    settings.setProperty("4lw.commands.whitelist", "");
    // In KiB: logs of transactions are not 64 MB each.
    settings.setProperty("preAllocSize", "1024");
    try {
      ZooKeeperServerEmbedded server =
          ZooKeeperServerEmbedded.builder()
              .baseDir(directory)
              .configuration(settings)
              .exitHandler(ExitHandler.LOG_ONLY)
              .build();
      server.start(START_MILLIS);
      return new EmbeddedZooKeeper(address, server);
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      throw new CoordinatorLostException(
          "the embedded ZooKeeper does not start: address=" + address + ", directory=" + directory,
          e);
    }
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void close() {
    server.close();
  }
}
