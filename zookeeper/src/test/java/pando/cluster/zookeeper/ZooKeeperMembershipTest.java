package pando.cluster.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import pando.cluster.ClusterAddress;
import pando.cluster.CoordinatorLostException;
import pando.cluster.Entry;
import pando.cluster.Membership;
import pando.cluster.MembershipContract;
import pando.cluster.MembershipProvider;
import pando.cluster.Write;

/** The contract, by an embedded ZooKeeper. */
class ZooKeeperMembershipTest extends MembershipContract {
  private static final Duration TIMEOUT = Duration.ofSeconds(8);
  private static final Duration PATIENCE = Duration.ofMillis(500);
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

  /** It says so at once: a port that is taken, a directory that is a file. */
  @Test
  void shouldSayWhyItDoesNotStart(@TempDir Path other) throws IOException {
    assertThatThrownBy(() -> EmbeddedZooKeeper.start(server.address(), other))
        .isInstanceOf(CoordinatorLostException.class)
        .hasCauseInstanceOf(BindException.class)
        .hasMessageContaining("because=java.net.BindException");
    Path file = Files.createFile(other.resolve("file"));
    assertThatThrownBy(() -> EmbeddedZooKeeper.start(freeAddress(), file))
        .isInstanceOf(CoordinatorLostException.class)
        .hasMessageContaining("directory=" + file)
        .hasMessageContaining("because=")
        .hasMessageNotContaining("Timeout");
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
      assertThat(session.status()).isEqualTo(Membership.Status.CONNECTED);
    }
  }

  /** The client of ZooKeeper gives up after four thirds of the session's time-out. */
  @Test
  @Tag("campaign")
  void shouldGoOnHoweverLongZooKeeperIsAway() throws Exception {
    Duration timeout = Duration.ofSeconds(1);
    try (Membership session = ZooKeeperMembership.connect(address, timeout)) {
      assertThat(session.commit(List.of(new Write.Announce("leader", new byte[1])))).isTrue();
      server.close();
      for (int away = 0; away < 4; away++) {
        TimeUnit.SECONDS.sleep(1);
        assertThat(session.status()).isEqualTo(Membership.Status.SUSPENDED);
        assertThatThrownBy(() -> session.read("leader"))
            .isInstanceOf(CoordinatorLostException.class);
      }
      server = EmbeddedZooKeeper.start(server.address(), directory);
      awaitStatus(session, Membership.Status.CONNECTED);
      assertThat(session.read("leader")).isPresent();
      CountDownLatch told = new CountDownLatch(1);
      session.watch(told::countDown);
      try (Membership other = connect()) {
        assertThat(other.commit(List.of(new Write.Create("config", new byte[1])))).isTrue();
        assertThat(told.await(30, TimeUnit.SECONDS)).isTrue();
        expire(session);
        awaitStatus(session, Membership.Status.LOST);
        assertThat(other.read("leader")).isEmpty();
      }
    }
  }

  @Test
  void shouldSayThatNobodyAnswers() throws IOException {
    InetSocketAddress free = freeAddress();
    ClusterAddress nobody = ClusterAddress.parse("127.0.0.1:" + free.getPort() + "/nobody");
    assertThatThrownBy(() -> ZooKeeperMembership.connect(nobody, TIMEOUT, PATIENCE))
        .isInstanceOf(CoordinatorLostException.class)
        .hasMessageContaining("/nobody");
  }

  /** A server that starts may take connections and never answer. */
  @Tag("campaign")
  @Test
  void shouldKeepItsSessionWhereServersTakeConnectionsAndDoNotAnswer() throws Exception {
    AtomicInteger unanswered = new AtomicInteger();
    List<Socket> sockets = new CopyOnWriteArrayList<>();
    try (ServerSocket front = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> forward(front, unanswered, sockets));
      ClusterAddress behind =
          ClusterAddress.parse("127.0.0.1:" + front.getLocalPort() + "/" + address.name());
      CountDownLatch suspended = new CountDownLatch(1);
      CountDownLatch connected = new CountDownLatch(1);
      try (Membership membership = ZooKeeperMembership.connect(behind, TIMEOUT)) {
        membership.watch(() -> {
          if (membership.status() == Membership.Status.SUSPENDED) {
            suspended.countDown();
          } else if (suspended.getCount() == 0) {
            connected.countDown();
          }
        });
        unanswered.set(2);
        closeAll(sockets);
        assertThat(suspended.await(1, TimeUnit.MINUTES)).isTrue();
        assertThat(connected.await(1, TimeUnit.MINUTES)).isTrue();
        assertThat(membership.status()).isEqualTo(Membership.Status.CONNECTED);
        assertThat(unanswered).hasNegativeValue();
      }
    } finally {
      closeAll(sockets);
    }
  }

  @Test
  void shouldAskOnlyForWhatHasChanged() {
    try (Membership session = connect();
        Membership other = connect()) {
      assertThat(session.read("config")).isEmpty();
      assertThat(other.commit(List.of(new Write.Create("config", new byte[1])))).isTrue();
      assertThat(other.commit(List.of(new Write.Create("pool/1", new byte[1])))).isTrue();
      await(() -> session.read("config").isPresent());
      await(() -> session.list("pool").equals(List.of("1")));
      Entry read = session.read("config").orElseThrow();
      List<String> listed = session.list("pool");
      assertThat(session.commit(List.of(new Write.Set("pool/1", 0, new byte[2])))).isTrue();
      assertThat(session.read("config").orElseThrow()).isSameAs(read);
      assertThat(session.list("pool")).isSameAs(listed);
    }
  }

  @Test
  void shouldReadWhatChangedWhileItWasCutOff() throws Exception {
    AtomicInteger unanswered = new AtomicInteger();
    List<Socket> sockets = new CopyOnWriteArrayList<>();
    try (ServerSocket front = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Membership other = connect()) {
      Thread.ofVirtual().start(() -> forward(front, unanswered, sockets));
      ClusterAddress behind =
          ClusterAddress.parse("127.0.0.1:" + front.getLocalPort() + "/" + address.name());
      assertThat(other.commit(List.of(new Write.Create("config", new byte[1])))).isTrue();
      try (Membership session = ZooKeeperMembership.connect(behind, TIMEOUT)) {
        assertThat(session.read("config").orElseThrow().version()).isZero();
        assertThat(session.list("pool")).isEmpty();
        unanswered.set(Integer.MAX_VALUE);
        closeAll(sockets);
        awaitStatus(session, Membership.Status.SUSPENDED);
        assertThat(other.commit(List.of(new Write.Set("config", 0, new byte[1])))).isTrue();
        assertThat(other.commit(List.of(new Write.Create("pool/1", new byte[1])))).isTrue();
        unanswered.set(0);
        closeAll(sockets);
        awaitStatus(session, Membership.Status.CONNECTED);
        assertThat(session.read("config").orElseThrow().version()).isEqualTo(1);
        assertThat(session.list("pool")).containsExactly("1");
      }
    } finally {
      closeAll(sockets);
    }
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static void closeAll(List<Socket> sockets) throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private static void forward(ServerSocket front, AtomicInteger unanswered, List<Socket> sockets) {
    try {
      while (true) {
        Socket client = front.accept();
        sockets.add(client);
        if (unanswered.getAndDecrement() <= 0) {
          Socket behind = new Socket(server.address().getAddress(), server.address().getPort());
          sockets.add(behind);
          Thread.ofVirtual().start(() -> forward(client, behind));
          Thread.ofVirtual().start(() -> forward(behind, client));
        }
      }
    } catch (IOException e) {
      assertThat(front.isClosed()).isTrue();
    }
  }

  private static void forward(Socket from, Socket to) {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException e) {
      assertThat(from.isClosed() || to.isClosed()).isTrue();
    }
  }

  @Test
  void shouldKeepClustersApart() {
    try (Membership one = connect();
        Membership other = ZooKeeperMembership.connect(address(server, "another"), TIMEOUT)) {
      assertThat(one.commit(List.of(new Write.Create("config", new byte[1])))).isTrue();
      assertThat(other.read("config")).isEmpty();
    }
  }
}
