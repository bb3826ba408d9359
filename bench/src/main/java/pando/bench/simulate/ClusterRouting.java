package pando.bench.simulate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import pando.client.Routes;

/** Where clients of a simulated cluster get their copies of the routes. */
final class ClusterRouting {
  private static final int KEPT = 16;

  private final ClusterWatch watch;

  /** The copies that were given out last. */
  private final List<ClusterRoutes> copies = new ArrayList<>();

  ClusterRouting(ClusterWatch watch) {
    this.watch = watch;
  }

  /** Returns the copy that was given out last; there must be one. */
  ClusterRoutes latest() {
    return copies.getLast();
  }

  /** Returns a copy that is old. */
  ClusterRoutes old(RandomGenerator random) {
    return copies.get(random.nextInt(copies.size()));
  }

  /** Gives out the first copy, if a compute server has routes; returns whether it did. */
  boolean open(RandomGenerator random) {
    ask(random).ifPresent(this::keep);
    return !copies.isEmpty();
  }

  /** Asks any compute server for routes; returns the copy that is to be used from now on. */
  ClusterRoutes refreshed(ClusterRoutes known, RandomGenerator random) {
    Optional<ClusterRoutes> found = ask(random);
    if (found.isEmpty() || found.get().routes().epoch() < known.routes().epoch()) {
      return known;
    }
    keep(found.get());
    return found.get();
  }

  private Optional<ClusterRoutes> ask(RandomGenerator random) {
    List<ClusterServer> open = watch.servers().stream().filter(ClusterServer::isOpen).toList();
    if (open.isEmpty()) {
      return Optional.empty();
    }
    Routes routes = open.get(random.nextInt(open.size())).routes();
    Map<Integer, ClusterServer> servers = new HashMap<>();
    // A later start of a number replaces an earlier one.
    open.forEach(server -> servers.put(server.number(), server));
    return Optional.of(new ClusterRoutes(routes, servers));
  }

  private void keep(ClusterRoutes copy) {
    copies.add(copy);
    if (copies.size() > KEPT) {
      copies.removeFirst();
    }
  }
}
