package pando.cluster.zookeeper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.util.ServiceUtils;
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
  private final Server server;

  private EmbeddedZooKeeper(InetSocketAddress address, Server server) {
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

  /** ZooKeeper does not report the port that it took, so a free one is found before. */
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
      QuorumPeerConfig config = new QuorumPeerConfig();
      config.parseProperties(settings);
      ServerConfig standalone = new ServerConfig();
      standalone.readFrom(config);
      return new EmbeddedZooKeeper(address, Server.start(standalone));
    } catch (Exception e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      Throwable cause =
          e instanceof ExecutionException ? Objects.requireNonNullElse(e.getCause(), e) : e;
      throw new CoordinatorLostException(
          "the embedded ZooKeeper does not start: address=%s, directory=%s, because=%s"
              .formatted(address, directory, cause),
          cause);
    }
  }

  /** ZooKeeper's own embedded server keeps to itself why it does not start. */
  private static final class Server extends ZooKeeperServerMain {
    private final CompletableFuture<Boolean> started = new CompletableFuture<>();

    /** Starts a server; throws what it failed with. */
    static Server start(ServerConfig config) throws Exception {
      ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
      Server server = new Server();
      Thread.ofPlatform().name("pando-zookeeper").daemon().start(() -> server.run(config));
      try {
        server.started.get(START_MILLIS, TimeUnit.MILLISECONDS);
        return server;
      } catch (Throwable e) {
        server.close();
        throw e;
      }
    }

    private void run(ServerConfig config) {
      try {
        runFromConfig(config);
        started.completeExceptionally(new IllegalStateException("ended while it started"));
      } catch (Throwable e) {
        started.completeExceptionally(e);
      }
    }

    @Override
    protected void serverStarted() {
      started.complete(true);
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
