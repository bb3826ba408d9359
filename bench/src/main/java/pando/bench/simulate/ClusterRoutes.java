package pando.bench.simulate;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;

/** A client's copy of the routes, with the compute servers that were where they lead to. */
record ClusterRoutes(Routes routes, Map<Integer, ClusterServer> servers) {
  ClusterRoutes {
    servers = Map.copyOf(servers);
  }

  /** Returns the compute server of a key, {@code null} if there was none. */
  @Nullable ClusterServer target(long key) {
    return servers.get(routes.routes().get(routes.routeOf(key)).owner());
  }
}
