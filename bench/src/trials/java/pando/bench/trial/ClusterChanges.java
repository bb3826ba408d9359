package pando.bench.trial;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import pando.client.Routes;
import pando.cluster.Change;
import pando.cluster.ClusterState;
import pando.index.BoundKey;

/** Asks a cluster for changes at random, as somebody with the command line does. */
final class ClusterChanges {
  private final ClusterState state;
  private final int numbers;
  private final TrialKeys keys;
  private final RandomGenerator random;
  private final boolean fences;
  private final List<Integer> asked = new ArrayList<>();

  /**
   * Creates it.
   *
   * @param fences whether compute servers are fenced that run
   */
  ClusterChanges(
      ClusterState state, int numbers, TrialKeys keys, RandomGenerator random, boolean fences) {
    this.state = state;
    this.numbers = numbers;
    this.keys = keys;
    this.random = random;
    this.fences = fences;
  }

  /** Returns the ids of the changes that were asked for. */
  List<Integer> asked() {
    return asked;
  }

  /** Asks for one change, if the routes are known. */
  void ask() {
    state.routes().ifPresent(routes -> asked.add(state.ask(any(routes))));
  }

  private Change any(Routes routes) {
    List<Routes.Route> all = routes.routes();
    int server = all.get(random.nextInt(all.size())).owner();
    int other = (server + 1 + random.nextInt(numbers - 1)) % numbers;
    return switch (random.nextInt(fences ? 8 : 7)) {
      case 0 -> Change.add(other);
      case 1 -> Change.remove(server);
      case 2, 3 -> Change.split(server, key(routes), other);
      case 7 -> Change.fence(server);
      default -> Change.move(server, key(routes));
    };
  }

  private BoundKey key(Routes routes) {
    long key = keys.any(random);
    return routes.isOfStrings() ? BoundKey.of(LongsAsBytes.key(key)) : BoundKey.of(key);
  }
}
