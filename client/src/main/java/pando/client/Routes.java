package pando.client;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import pando.index.Partitioning;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.KeyBounds;

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
   * @param low least key of its range; of byte strings, the least label there
   * @param fence of byte strings, the one with which the range begins, of which a copy is kept;
   *     {@code null} of an index of words
   * @param owner its number
   * @param address HOST:PORT; empty if it has none now
   */
  public record Route(long low, @Nullable MemorySegment fence, int owner, String address) {
    /** Makes a route of an index of words. */
    public Route(long low, int owner, String address) {
      this(low, null, owner, address);
    }

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
      fence = fence == null ? null : ByteArguments.copyOf(fence).asReadOnly();
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Route route
          && low == route.low
          && owner == route.owner
          && address.equals(route.address)
          && (fence == null
              ? route.fence == null
              : route.fence != null && fence.mismatch(route.fence) < 0);
    }

    @Override
    public int hashCode() {
      return Objects.hash(low, owner, address);
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
    Partitioning table =
        new Partitioning(
            epoch,
            routes.stream().mapToLong(Route::low).toArray(),
            routes.stream().mapToInt(Route::owner).toArray());
    List<MemorySegment> fences =
        routes.stream().map(Route::fence).filter(Objects::nonNull).toList();
    return fences.isEmpty() ? table : KeyBounds.withFences(table, fences);
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
      MemorySegment fence = partitioning.hasFences() ? partitioning.fenceOfRange(range) : null;
      String address = addresses.apply(owner).orElse("");
      routes.add(new Route(partitioning.lowOfRange(range), fence, owner, address));
    }
    return new Routes(partitioning.epoch(), true, routes);
  }

  /** Returns the ranges of keys that they lead to; one where there are no partitions. */
  public Partitioning partitioning() {
    return isPartitioned ? partitioning(epoch, routes) : Partitioning.undivided(0);
  }

  /** Returns the place of the route for a word, where {@link #isPartitioned}. */
  public int routeOf(long key) {
    int place = routes.size() - 1;
    while (place > 0 && routes.get(place).low > key) {
      place--;
    }
    return place;
  }
}
