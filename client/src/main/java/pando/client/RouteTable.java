package pando.client;

import java.util.LinkedHashSet;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;

/** Routes, and the connections that they lead to. Immutable. */
final class RouteTable {
  private final Routes routes;
  private final Partitioning partitioning;
  private final Connection asked;
  private final @Nullable Connection[] targets;
  private final int turn;

  /**
   * Makes a table.
   *
   * @param asked by which the routes came
   * @param targets for each route; {@code null} where its server has no address
   * @param turn which of several servers is asked where each serves all keys
   */
  RouteTable(Routes routes, Connection asked, @Nullable Connection[] targets, int turn) {
    this.routes = routes;
    this.partitioning = routes.partitioning();
    this.asked = asked;
    this.targets = targets;
    this.turn = turn;
  }

  Routes routes() {
    return routes;
  }

  /** Returns the ranges of keys that the routes lead to. */
  Partitioning partitioning() {
    return partitioning;
  }

  /** Returns the connection to the server of a call, {@code null} if it has no address. */
  @Nullable Connection target(Call call) {
    if (targets.length == 0) {
      return asked;
    }
    return targets[routes.isPartitioned() ? call.rangeIn(partitioning) : turn % targets.length];
  }

  /** Returns the connections that the routes lead to, each once. */
  SequencedSet<Connection> servers() {
    SequencedSet<Connection> all = new LinkedHashSet<>();
    for (Connection target : targets) {
      if (target != null) {
        all.add(target);
      }
    }
    if (targets.length == 0) {
      all.add(asked);
    }
    return all;
  }
}
