package pando.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import pando.index.Partitioning;

/**
 * Which compute server serves which keys, and where it is. Immutable.
 *
 * @param epoch of the table of partitions that this is a copy of; may be old
 * @param isPartitioned whether each key has one owner; if not, each server serves all keys
 * @param routes in the order of their least keys, of which the first is the least of all; or those
 *     of all servers, whose least keys do not matter; or none if the server that was asked serves
 *     all keys
 */
public record Routes(long epoch, boolean isPartitioned, List<Route> routes) {
  /** Most routes. */
  public static final int ROUTES_MAX = 64;

  private static final int ADDRESS_MAX = 300;

  /**
   * One compute server.
   *
   * @param low least key of its range
   * @param owner its number
   * @param address HOST:PORT; empty if it has none now
   */
  public record Route(long low, int owner, String address) {
    /**
     * Checks an address.
     *
     * @throws IllegalArgumentException if it is too long, or not of visible ASCII
     */
    public Route {
      boolean isText = address.chars().allMatch(c -> c > ' ' && c < 0x7f);
      if (!isText || address.length() > ADDRESS_MAX) {
        throw new IllegalArgumentException(
            "no address: address=" + address + ", length=" + address.length());
      }
    }
  }

  /**
   * Makes routes.
   *
   * @throws IllegalArgumentException if they are no table
   */
  public Routes {
    routes = List.copyOf(routes);
    if (routes.size() > ROUTES_MAX) {
      throw new IllegalArgumentException("too many routes: routes=" + routes.size());
    }
    if (isPartitioned) {
      Partitioning _ = partitioning(epoch, routes);
    }
  }

  private static Partitioning partitioning(long epoch, List<Route> routes) {
    return new Partitioning(
        epoch,
        routes.stream().mapToLong(Route::low).toArray(),
        routes.stream().mapToInt(Route::owner).toArray());
  }

  /** Returns the routes of a compute server that serves all keys by itself. */
  public static Routes alone() {
    return new Routes(0, false, List.of());
  }

  /**
   * Returns the routes to partitions.
   *
   * @param addresses gives HOST:PORT of each compute server's process, empty where it has none
   */
  public static Routes of(Partitioning partitioning, IntFunction<Optional<String>> addresses) {
    List<Route> routes = new ArrayList<>();
    for (int range = 0; range < partitioning.servers(); range++) {
      int owner = partitioning.ownerOfRange(range);
      routes.add(
          new Route(partitioning.lowOfRange(range), owner, addresses.apply(owner).orElse("")));
    }
    return new Routes(partitioning.epoch(), true, routes);
  }

  /** Returns the ranges of keys that they lead to; one where there are no partitions. */
  public Partitioning partitioning() {
    return isPartitioned ? partitioning(epoch, routes) : Partitioning.undivided(0);
  }

  /** Returns the place of the route for a key, where {@link #isPartitioned}. */
  public int routeOf(long key) {
    int place = routes.size() - 1;
    while (place > 0 && routes.get(place).low > key) {
      place--;
    }
    return place;
  }
}
