package pando.client;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import pando.client.wire.ClientFrame;
import pando.index.Partitioning;

/**
 * Which compute server serves which keys, and where it is. Immutable.
 *
 * @param epoch of the table of partitions that this is a copy of; may be old
 * @param isPartitioned whether each key has one owner; if not, each server serves all keys
 * @param isOfStrings whether keys are byte strings, and ranges of them begin with fences; only
 *     where they are partitioned
 * @param routes in the order of their ranges, of which the first begins with the least key of all;
 *     or those of all servers, whose ranges do not matter; or none if the server that was asked
 *     serves all keys
 */
public record Routes(long epoch, boolean isPartitioned, boolean isOfStrings, List<Route> routes) {
  /** Most routes. */
  public static final int ROUTES_MAX = 64;

  private static final int ADDRESS_MAX = 300;

  /**
   * One compute server.
   *
   * @param low least key of its range; of byte strings, a number that ascends and has no meaning
   * @param fence byte string with which its range begins, which must not change; else empty
   * @param owner its number
   * @param address HOST:PORT; empty if it has none now
   */
  public record Route(long low, MemorySegment fence, int owner, String address) {
    /**
     * Checks what is given.
     *
     * @throws IllegalArgumentException if the address is too long, or not of visible ASCII, or the
     *     fence is too long
     */
    public Route {
      boolean isText = address.chars().allMatch(c -> c > ' ' && c < 0x7f);
      if (!isText || address.length() > ADDRESS_MAX) {
        throw new IllegalArgumentException(
            "no address: address=" + address + ", length=" + address.length());
      }
      if (fence.byteSize() > ClientFrame.KEY_BYTES_MAX) {
        throw new IllegalArgumentException(
            "the fence is too long: bytes=%s, maximum=%s"
                .formatted(fence.byteSize(), ClientFrame.KEY_BYTES_MAX));
      }
      fence = fence.asReadOnly();
    }

    /** Makes one of words. */
    public Route(long low, int owner, String address) {
      this(low, MemorySegment.NULL, owner, address);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Route its
          && low == its.low
          && fence.mismatch(its.fence) < 0
          && owner == its.owner
          && address.equals(its.address);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(low) * 31 + owner;
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
      Partitioning _ = partitioning(epoch, isOfStrings, routes);
    } else if (isOfStrings) {
      throw new IllegalArgumentException("fences of no ranges: routes=" + routes.size());
    }
  }

  /** Makes routes of words. */
  public Routes(long epoch, boolean isPartitioned, List<Route> routes) {
    this(epoch, isPartitioned, false, routes);
  }

  private static Partitioning partitioning(long epoch, boolean isOfStrings, List<Route> routes) {
    Partitioning table =
        new Partitioning(
            epoch,
            routes.stream().mapToLong(Route::low).toArray(),
            routes.stream().mapToInt(Route::owner).toArray());
    return isOfStrings ? table.withFences(routes.stream().map(Route::fence).toList()) : table;
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
      Partitioning.Bound bound = partitioning.boundOfRange(range);
      int owner = partitioning.ownerOfRange(range);
      String address = addresses.apply(owner).orElse("");
      routes.add(new Route(bound.low(), bound.fence(), owner, address));
    }
    return new Routes(partitioning.epoch(), true, partitioning.hasFences(), routes);
  }

  /** Returns the ranges of keys that they lead to; one where there are no partitions. */
  public Partitioning partitioning() {
    return isPartitioned ? partitioning(epoch, isOfStrings, routes) : Partitioning.undivided(0);
  }
}
