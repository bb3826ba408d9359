package pando.cluster.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import pando.cluster.ClusterAddress;
import pando.cluster.CoordinatorLostException;
import pando.cluster.Membership;
import pando.cluster.MembershipContract;
import pando.cluster.MembershipProvider;

/** The contract, by an embedded ZooKeeper. */
class ZooKeeperMembershipTest extends MembershipContract {
  private static final Duration TIMEOUT = Duration.ofSeconds(8);
  private static final AtomicInteger CLUSTERS = new AtomicInteger();

  @TempDir private static Path directory;

  private static EmbeddedZooKeeper server;

  private ClusterAddress address;

  @BeforeAll
  static void start() {
    server =
        EmbeddedZooKeeper.start(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), directory);
  }

  @AfterAll
  static void end() {
    server.close();
  }

  @BeforeEach
  void chooseCluster() {
    address = address(server, "test-" + CLUSTERS.incrementAndGet());
  }

  private static InetSocketAddress freeAddress() throws IOException {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (ServerSocket free = new ServerSocket(0, 1, loopback)) {
      return new InetSocketAddress(loopback, free.getLocalPort());
    }
  }

  private static ClusterAddress address(EmbeddedZooKeeper server, String name) {
    InetSocketAddress at = server.address();
    return ClusterAddress.parse(at.getAddress().getHostAddress() + ":" + at.getPort() + "/" + name);
  }

  @Override
  protected Membership connect() {
    return ZooKeeperMembership.connect(address, TIMEOUT);
  }

  @Override
  protected void expire(Membership session) throws Exception {
    ZooKeeper client = ((ZooKeeperMembership) session).client();
    ZooKeeper twin =
        new ZooKeeper(
            address.coordinator(),
            (int) TIMEOUT.toMillis(),
            _ -> {},
            client.getSessionId(),
            client.getSessionPasswd());
    while (!twin.getState().isConnected()) {
      Thread.onSpinWait();
    }
    twin.close();
  }

  @Override
  protected void disconnect(Membership session) {
    server.close();
  }

  @Override
  protected void reconnect(Membership session) {
    server = EmbeddedZooKeeper.start(server.address(), directory);
  }

  @Test
  void shouldBeFoundAsAService() {
    assertThat(ServiceLoader.load(MembershipProvider.class)).hasSize(1);
    try (Membership session = MembershipProvider.installed().connect(address, TIMEOUT)) {
      assertThat(session.session()).isEqualTo(Membership.Session.CONNECTED);
    }
  }

  @Test
  void shouldSayThatNobodyAnswers() throws IOException {
    InetSocketAddress free = freeAddress();
    ClusterAddress nobody = ClusterAddress.parse("127.0.0.1:" + free.getPort() + "/nobody");
    assertThatThrownBy(() -> ZooKeeperMembership.connect(nobody, TIMEOUT))
        .isInstanceOf(CoordinatorLostException.class)
        .hasMessageContaining("/nobody");
  }

  @Test
  void shouldKeepClustersApart() {
    try (Membership one = connect();
        Membership other = ZooKeeperMembership.connect(address(server, "another"), TIMEOUT)) {
      assertThat(one.commit(List.of(new pando.cluster.Write.Create("config", new byte[1]))))
          .isTrue();
      assertThat(other.read("config")).isEmpty();
    }
  }
}
