package pando.cluster.zookeeper;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import pando.cluster.ClusterAddress;
import pando.cluster.EmbeddedCoordinator;
import pando.cluster.Membership;
import pando.cluster.MembershipProvider;

/** Connects to ZooKeeper. */
public final class ZooKeeperProvider implements MembershipProvider {
  /** For the service loader. */
  public ZooKeeperProvider() {}

  @Override
  public Membership connect(ClusterAddress address, Duration sessionTimeout) {
    return ZooKeeperMembership.connect(address, sessionTimeout);
  }

  @Override
  public EmbeddedCoordinator startCoordinator(InetSocketAddress address, Path directory) {
    return EmbeddedZooKeeper.start(address, directory);
  }
}
