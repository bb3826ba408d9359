package pando.cli.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import pando.client.Routes;
import pando.cluster.Change;
import pando.cluster.ClusterState;
import pando.cluster.CoordinatorLostException;
import pando.cluster.Member;

/** What the coordinator knows of a cluster; asks until it answers. */
final class ClusterView {
  /** Longest wait for anything that a cluster has to come to by itself. */
  static final long RECOVERY_SECONDS = 120;

  private static final long LOOK_MILLIS = 20;

  private final TestedCluster cluster;

  ClusterView(TestedCluster cluster) {
    this.cluster = cluster;
  }

  private <T> T asked(Function<ClusterState, T> question) {
    long start = System.nanoTime();
    while (true) {
      try {
        return question.apply(cluster.state());
      } catch (CoordinatorLostException e) {
        if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS)) {
          throw e;
        }
      }
    }
  }

  Routes routes() {
    return asked(state -> state.routes().orElseThrow());
  }

  int leader() {
    return asked(state -> state.leader().orElseThrow());
  }

  List<Change> changes() {
    return asked(ClusterState::changes);
  }

  Optional<Change> change(int id) {
    return asked(state -> state.change(id));
  }

  List<Member> computeServers() {
    return asked(ClusterState::computeServers);
  }

  /** Returns the fence of a compute server that was asked for last. */
  Optional<Change> lastFence(int number) {
    return changes().stream()
        .filter(change -> change.kind() == Change.Kind.FENCE && change.server() == number)
        .reduce((_, last) -> last);
  }

  // Ranges.

  List<Losses.Range> ranges(int number) {
    return ranges(routes(), number);
  }

  static List<Losses.Range> ranges(Routes routes, int number) {
    return IntStream.range(0, routes.routes().size())
        .filter(place -> routes.routes().get(place).owner() == number)
        .mapToObj(place -> range(routes, place))
        .toList();
  }

  static Losses.Range range(Routes routes, int place) {
    List<Routes.Route> all = routes.routes();
    return new Losses.Range(
        all.get(place).low(),
        place + 1 < all.size() ? all.get(place + 1).low() - 1 : Long.MAX_VALUE);
  }

  /** Returns the keys that a compute server may have while a change is under way. */
  static List<Losses.Range> rangesInChange(Routes before, int number, Change change) {
    List<Losses.Range> ranges = new ArrayList<>();
    List<Routes.Route> routes = before.routes();
    for (int place = 0; place < routes.size(); place++) {
      int owner = routes.get(place).owner();
      boolean isBeside =
          (place > 0 && routes.get(place - 1).owner() == number)
              || (place + 1 < routes.size() && routes.get(place + 1).owner() == number);
      if (owner == number || owner == change.server() || isBeside) {
        ranges.add(range(before, place));
      }
    }
    return ranges;
  }

  // Waiting.

  /** Waits until changes are as wanted, and looks all the time. */
  void awaitChanges(Predicate<List<Change>> wanted) {
    await(() -> wanted.test(changes()), "changes", 0);
  }

  /** Waits until a number of compute servers have all ranges, and nothing is left to do. */
  void awaitSettled(int count, String after) {
    await(() -> isSettled(count), after);
  }

  /** Returns whether a number of compute servers have all ranges, and nothing is left to do. */
  boolean isSettled(int count) {
    return asked(state -> {
      Optional<Routes> routes = state.routes();
      return routes.isPresent()
          && routes.get().routes().size() == count
          && routes.get().routes().stream().noneMatch(route -> route.address().isEmpty())
          && state.computeServers().stream().filter(Member::isServing).count() == count
          && state.leader().isPresent()
          && state.changes().stream().allMatch(Change::isOver);
    });
  }

  void await(BooleanSupplier condition, String after) {
    await(condition, after, LOOK_MILLIS);
  }

  private void await(BooleanSupplier condition, String after, long pauseMillis) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS)) {
        throw new IllegalStateException(
            "does not come about: after=%s, members=%s, routes=%s, changes=%s"
                .formatted(
                    after,
                    computeServers(),
                    routes(),
                    changes().stream().filter(change -> !change.isOver()).toList()));
      }
      try {
        TimeUnit.MILLISECONDS.sleep(pauseMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CompletionException(e);
      }
    }
  }
}
