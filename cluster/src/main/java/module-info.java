import org.jspecify.annotations.NullMarked;

/**
 * A cluster: servers that find each other by a coordinator, ranges that go from one compute server
 * to another, and what is done when one is lost. The coordinator is found as a service.
 */
@NullMarked
module pando.cluster {
  requires static org.jspecify;
  requires transitive pando.client;
  requires pando.durable;
  requires transitive pando.index;

  exports pando.cluster;

  uses pando.cluster.MembershipProvider;
}
