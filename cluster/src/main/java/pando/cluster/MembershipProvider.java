package pando.cluster;

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

  /** Returns the provider that is there. */
  static MembershipProvider installed() {
    return ServiceLoader.load(MembershipProvider.class)
        .findFirst()
        .orElseThrow(() ->
            new ClusterException(
                "no coordinator's client is there: add pando-zookeeper to the class path"));
  }
}
