package pando.index;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import pando.fabric.memory.KeyOrder;

/**
 * The range of keys that each compute server owns (logical partitioning, DEX section 4). Ranges are
 * disjoint and together cover every key; their bounds are fences of leaves, so each leaf has one
 * owner. Immutable.
 *
 * <p>A table of byte strings has two bounds for each range: a number, the least label of a block
 * there, and a fence, the byte string with which the range begins. Both ascend. {@link
 * pando.index.bytes.KeyBounds} finds the range of a byte string.
 */
public final class Partitioning {
  private static final double KEYS = 0x1p64;

  private final long epoch;
  private final long[] lows;
  private final int[] owners;

  /** The byte strings with which ranges begin; none in a table of numbers. */
  private final List<MemorySegment> fences;

  /**
   * Where a range begins.
   *
   * @param low least key of the range; in a table of byte strings, its least label
   * @param fence the byte string with which the range begins; empty in a table of numbers
   */
  public record Bound(long low, MemorySegment fence) {
    /** Makes a bound of a table of numbers. */
    public static Bound of(long low) {
      return new Bound(low, MemorySegment.NULL);
    }
  }

  /**
   * Makes a table.
   *
   * @param epoch number of changes since the index was made
   * @param lows least key of each range, ascending from the least of all
   * @param owners compute server of each range, each server once
   * @throws IllegalArgumentException if the arrays do not form a legal table
   */
  public Partitioning(long epoch, long[] lows, int[] owners) {
    this(epoch, lows, owners, List.of());
  }

  private Partitioning(long epoch, long[] lows, int[] owners, List<MemorySegment> fences) {
    this.epoch = epoch;
    this.lows = lows.clone();
    this.owners = owners.clone();
    this.fences = List.copyOf(fences);
    if (!isTable()) {
      throw new IllegalArgumentException(
          "no partitions: lows=" + Arrays.toString(lows) + ", owners=" + Arrays.toString(owners));
    }
  }

  private boolean isTable() {
    boolean legal = lows.length > 0 && lows.length == owners.length && lows[0] == Long.MIN_VALUE;
    long seen = 0;
    for (int range = 0; legal && range < lows.length; range++) {
      int owner = owners[range];
      legal =
          owner >= 0
              && owner < IndexOptions.COMPUTE_SERVERS_MAX
              && (seen & 1L << owner) == 0
              && (range == 0 || lows[range - 1] < lows[range]);
      seen |= 1L << owner;
    }
    return legal;
  }

  /**
   * Divides the key space into ranges of equal width, for compute servers 0 to {@code servers} - 1.
   *
   * @param servers 1 to {@link IndexOptions#COMPUTE_SERVERS_MAX}
   */
  public static Partitioning equalWidth(int servers) {
    long[] lows = new long[servers];
    int[] owners = new int[servers];
    for (int i = 0; i < servers; i++) {
      lows[i] = Long.MIN_VALUE + i * (servers == 1 ? 0 : Long.divideUnsigned(-1L, servers));
      owners[i] = i;
    }
    return new Partitioning(1, lows, owners);
  }

  /** Gives all keys to one compute server. */
  public static Partitioning undivided(int server) {
    return new Partitioning(1, new long[] {Long.MIN_VALUE}, new int[] {server});
  }

  /**
   * Returns this table with the byte strings with which its ranges begin.
   *
   * @param all one for each range, ascending from the empty one; they must not change
   * @throws IllegalArgumentException if they are not one for each range, or do not ascend so
   */
  public Partitioning withFences(List<MemorySegment> all) {
    if (all.size() != lows.length) {
      throw new IllegalArgumentException(
          "no fences of these ranges: ranges=" + lows.length + ", fences=" + all.size());
    }
    for (int range = 0; range < all.size(); range++) {
      boolean ascends =
          range == 0
              ? all.getFirst().byteSize() == 0
              : KeyOrder.compare(all.get(range - 1), all.get(range)) < 0;
      if (!ascends) {
        throw new IllegalArgumentException(
            "fences of ranges do not ascend: range=%s, fence=%s"
                .formatted(range, BoundKey.text(all.get(range))));
      }
    }
    return new Partitioning(
        epoch, lows, owners, all.stream().map(MemorySegment::asReadOnly).toList());
  }

  /** Returns whether it is a table of byte strings. */
  public boolean hasFences() {
    return !fences.isEmpty();
  }

  /**
   * Returns the byte string with which a range begins.
   *
   * @throws IllegalStateException if this is a table of numbers
   */
  public MemorySegment fenceOfRange(int range) {
    if (fences.isEmpty()) {
      throw new IllegalStateException("the table has no byte strings: ranges=" + lows.length);
    }
    return fences.get(range);
  }

  /** Returns the number of changes since the index was made. */
  public long epoch() {
    return epoch;
  }

  /** Returns the number of ranges, each with a compute server of its own. */
  public int servers() {
    return lows.length;
  }

  /** Returns the number of the compute server that owns a key. */
  public int ownerOfKey(long key) {
    return owners[rangeOfKey(key)];
  }

  /**
   * Returns the number of the compute server that owns a range.
   *
   * @param range 0 to {@link #servers()} - 1, in the order of keys
   */
  public int ownerOfRange(int range) {
    return owners[range];
  }

  /**
   * Returns the least key of a compute server.
   *
   * @throws IllegalArgumentException if it owns no range
   */
  public long lowOfServer(int server) {
    return lows[rangeOfServer(server)];
  }

  /**
   * Returns the greatest key of a compute server.
   *
   * @throws IllegalArgumentException if it owns no range
   */
  public long highOfServer(int server) {
    return highOfRange(rangeOfServer(server));
  }

  /** Returns whether a compute server owns any range. */
  public boolean hasServer(int server) {
    for (int owner : owners) {
      if (owner == server) {
        return true;
      }
    }
    return false;
  }

  /** Returns the least key of a range. */
  public long lowOfRange(int range) {
    return lows[range];
  }

  /** Returns the greatest key of a range. */
  public long highOfRange(int range) {
    return range + 1 < lows.length ? lows[range + 1] - 1 : Long.MAX_VALUE;
  }

  /** Returns which part of all possible keys a range is, of 1. */
  public double shareOfRange(int range) {
    return ((double) highOfRange(range) - lowOfRange(range) + 1) / KEYS;
  }

  /**
   * Returns the range of a compute server.
   *
   * @throws IllegalArgumentException if it owns none
   */
  public int rangeOfServer(int server) {
    for (int range = 0; range < owners.length; range++) {
      if (owners[range] == server) {
        return range;
      }
    }
    throw new IllegalArgumentException(
        "no such compute server: server=" + server + ", servers=" + Arrays.toString(owners));
  }

  /** Returns the least key of each range. */
  public long[] lows() {
    return lows.clone();
  }

  /** Returns a table of numbers with other low bounds and the same owners. */
  public Partitioning withLows(long[] moved) {
    return new Partitioning(epoch + 1, moved, owners);
  }

  /**
   * Returns a table in which a range, not the first, has another low bound, between those of its
   * neighbours.
   */
  public Partitioning withBoundOfRange(int range, Bound bound) {
    return withBound(range, bound, epoch + 1);
  }

  private Partitioning withBound(int range, Bound bound, long newEpoch) {
    long[] moved = lows.clone();
    moved[range] = bound.low;
    List<MemorySegment> movedFences = new ArrayList<>(fences);
    if (hasFences()) {
      movedFences.set(range, bound.fence);
    }
    return new Partitioning(newEpoch, moved, owners, movedFences);
  }

  /** Returns a table in which a new compute server owns the keys of a range from a bound on. */
  public Partitioning withRangeSplit(int range, Bound bound, int server) {
    long[] moreLows = Arrays.copyOf(lows, lows.length + 1);
    int[] moreOwners = Arrays.copyOf(owners, owners.length + 1);
    System.arraycopy(lows, range + 1, moreLows, range + 2, lows.length - range - 1);
    System.arraycopy(owners, range + 1, moreOwners, range + 2, owners.length - range - 1);
    moreLows[range + 1] = bound.low;
    moreOwners[range + 1] = server;
    List<MemorySegment> moreFences = new ArrayList<>(fences);
    if (hasFences()) {
      moreFences.add(range + 1, bound.fence);
    }
    return new Partitioning(epoch + 1, moreLows, moreOwners, moreFences);
  }

  /**
   * Returns a table without a range: its keys go to its left neighbour, those of the first range to
   * its right neighbour. The only range cannot be removed.
   */
  public Partitioning withoutRange(int range) {
    long[] fewerLows = new long[lows.length - 1];
    int[] fewerOwners = new int[lows.length - 1];
    for (int i = 0, j = 0; i < lows.length; i++) {
      if (i != range) {
        fewerLows[j] = lows[i];
        fewerOwners[j++] = owners[i];
      }
    }
    fewerLows[0] = Long.MIN_VALUE;
    List<MemorySegment> fewerFences = new ArrayList<>(fences);
    if (hasFences()) {
      fewerFences.remove(Math.max(range, 1));
    }
    return new Partitioning(epoch + 1, fewerLows, fewerOwners, fewerFences);
  }

  /**
   * Returns a table in which the keys of one range belong to another compute server: to one that
   * has the range beside it, or none.
   *
   * @throws IllegalArgumentException if its range lies elsewhere, or is this one
   */
  public Partitioning withRangeGiven(int range, int server) {
    if (!hasServer(server)) {
      int[] given = owners.clone();
      given[range] = server;
      return new Partitioning(epoch + 1, lows, given, fences);
    }
    int receiving = rangeOfServer(server);
    if (Math.abs(receiving - range) != 1) {
      throw new IllegalArgumentException(
          "the ranges do not touch: range=%s, rangeOfServer=%s, server=%s"
              .formatted(range, receiving, server));
    }
    Partitioning without = withoutRange(range);
    return receiving < range || range == 0
        ? without
        : without.withBound(range, boundOfRange(range), without.epoch);
  }

  /** Returns where a range begins. */
  public Bound boundOfRange(int range) {
    return new Bound(lows[range], hasFences() ? fences.get(range) : MemorySegment.NULL);
  }

  /** Returns the range that holds a key. */
  public int rangeOfKey(long key) {
    int range = lows.length - 1;
    while (range > 0 && lows[range] > key) {
      range--;
    }
    return range;
  }
}
