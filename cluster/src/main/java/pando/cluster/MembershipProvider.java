package pando.cluster;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ServiceLoader;

/** Connects to the coordinator of a kind; found as a service. */
public interface MembershipProvider {
  /**
   * Opens a session.
   *
   * @param address where the coordinator is and the cluster's name, such as {@code
   *     10.0.0.1:2181,10.0.0.2:2181/grove}
   * @param sessionTimeout after how long without a sign of life a session ends
   * @throws CoordinatorLostException if it does not answer
   * @throws IllegalArgumentException if the address makes no sense
   */
  Membership connect(ClusterAddress address, Duration sessionTimeout);

  /**
   * Starts a coordinator in this process, alone: for a cluster on one machine. All who can reach
   * its address can change what it keeps.
   *
   * @param address to listen on; port 0 takes a free one
   * @param directory for what it keeps
   * @throws CoordinatorLostException if it does not start
   */
  EmbeddedCoordinator startCoordinator(InetSocketAddress address, Path directory);

  /** Returns the provider that is there. */
  static MembershipProvider installed() {
    return ServiceLoader.load(MembershipProvider.class)
        .findFirst()
        .orElseThrow(() ->
            new ClusterException(
                "no coordinator's client is there: add pando-zookeeper to the class path"));
  }
}
