package pando.index.orca.space;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.server.CallFailedException;
import pando.index.orca.leaf.LeafLayout;

/**
 * The regions of one memory server that a compute server has, and which of their units are in use.
 * Its methods lock it and return at once; no worker holds the lock during a verb.
 *
 * <p>Regions stand in a ring, in which the search goes round. A new one is put in where the search
 * has got to: when it is filled, the search goes on behind it, and so comes by every gap.
 */
final class RegionRing {
  /** No extent or no region. */
  static final long NONE = -1;

  /** Greatest alignment of an extent. */
  static final int ALIGN_UNITS_MAX = 8;

  /** Allocations that look for any gap after the memory server was full, before one asks again. */
  private static final int PASSES = 256;

  private static final int UNIT_BYTES = LeafLayout.UNIT_BYTES;

  static {
    if (Fabric.CATALOGUE_BYTES % (ALIGN_UNITS_MAX * UNIT_BYTES) != 0) {
      throw new AssertionError("regions are not aligned: catalogueBytes=" + Fabric.CATALOGUE_BYTES);
    }
  }

  private final int server;
  private final int regionBytes;
  private final int regionUnits;

  /** By number of region; null for those that this compute server does not have. */
  private @Nullable Region[] byNumber = new Region[16];

  private int regions;
  private int emptyRegions;
  private long unitsInUse;
  private int passesLeft;

  /** Where the search goes on: a region, and a unit in it. */
  private @Nullable Region current;

  private int currentUnit;

  RegionRing(int server, int regionBytes) {
    this.server = server;
    this.regionBytes = regionBytes;
    this.regionUnits = regionBytes / UNIT_BYTES;
  }

  /**
   * Takes the next gap that is long enough; returns the extent's address, or {@link #NONE} after so
   * many gaps that are not, or a whole round.
   */
  synchronized long take(int units, int alignUnits, int gapsMax) {
    Region region = current;
    if (region == null) {
      return NONE;
    }
    int gaps = 0;
    // The round ends in the region in which it begins, with the units before the first one.
    for (int visited = 0; visited <= regions; visited++) {
      int start = region.used.nextClearBit(currentUnit);
      while (start < regionUnits) {
        int end = region.end(start, regionUnits);
        int aligned = (start + alignUnits - 1) & -alignUnits;
        currentUnit = end;
        if (aligned + units <= end) {
          return use(region, aligned, units);
        }
        if (++gaps == gapsMax) {
          current = region;
          return NONE;
        }
        start = region.used.nextClearBit(end);
      }
      region = region.next;
      currentUnit = 0;
    }
    current = region;
    return NONE;
  }

  /**
   * Takes the shortest gap that is long enough, so that long ones stay; returns the extent's
   * address, or {@link #NONE} if there is none. Looks at all gaps, unless it finds one of just that
   * length.
   */
  synchronized long takeBest(int units, int alignUnits) {
    @Nullable Region best = null;
    int bestUnit = 0;
    int least = Integer.MAX_VALUE;
    Region region = current;
    for (int i = 0; region != null && i < regions && least > units; i++) {
      int start = region.used.nextClearBit(0);
      while (start < regionUnits) {
        int end = region.end(start, regionUnits);
        int aligned = (start + alignUnits - 1) & -alignUnits;
        if (aligned + units <= end && end - start < least) {
          best = region;
          bestUnit = aligned;
          least = end - start;
        }
        start = region.used.nextClearBit(end);
      }
      region = region.next;
    }
    return best == null ? NONE : use(best, bestUnit, units);
  }

  private long use(Region region, int unit, int units) {
    current = region;
    currentUnit = unit + units;
    mark(region, unit, units);
    return GlobalAddress.of(server, region.start + (long) unit * UNIT_BYTES);
  }

  private void mark(Region region, int unit, int units) {
    if (region.used.isEmpty()) {
      emptyRegions--;
    }
    region.used.set(unit, unit + units);
    unitsInUse += units;
  }

  /**
   * Adds a region that the memory server has given, without extents.
   *
   * @throws CallFailedException if it cannot be a new one
   */
  synchronized void addEmpty(long start) {
    addGiven(start);
  }

  /** Returns the units of regions without extents. */
  synchronized int unitsEmpty() {
    return emptyRegions * regionUnits;
  }

  /**
   * Returns how many units are free in gaps of a least length, but not in regions without extents.
   *
   * @param enough number of units at which counting ends
   * @param regionsMax number of regions after which it ends
   */
  synchronized int unitsInGaps(int leastGap, int enough, int regionsMax) {
    int free = 0;
    Region region = current;
    for (int i = 0; region != null && free < enough && i < Math.min(regions, regionsMax); i++) {
      free += region.unitsInGaps(leastGap, regionUnits);
      region = region.next;
    }
    return free;
  }

  /**
   * Adds a region that the memory server has given, and takes its first units.
   *
   * @throws CallFailedException if it cannot be a new one
   */
  synchronized long takeFirst(long start, int units) {
    return use(addGiven(start), 0, units);
  }

  /** Marks the units of an extent as in use; adds the region where it is a new one. */
  synchronized void claim(long offset, int units) {
    Region region = regionOf(offset);
    int unit = unitOf(offset);
    if (region != null) {
      int used = region.used.nextSetBit(unit);
      if (used >= 0 && used < unit + units) {
        throw new IllegalStateException("units to claim are in use" + extent(offset, units));
      }
    } else {
      region = add(offset - (long) unit * UNIT_BYTES);
    }
    mark(region, unit, units);
  }

  /**
   * Frees the units of an extent; returns the start of a region that is to be given back, or {@link
   * #NONE}.
   */
  synchronized long free(long offset, int units) {
    Region region = regionOf(offset);
    int unit = unitOf(offset);
    if (region == null || region.used.nextClearBit(unit) < unit + units) {
      throw new IllegalStateException("units to free are not in use" + extent(offset, units));
    }
    region.used.clear(unit, unit + units);
    unitsInUse -= units;
    if (!region.used.isEmpty()) {
      return NONE;
    }
    emptyRegions++;
    return emptyRegions > 1 ? remove(region) : NONE;
  }

  /** Returns whether an offset lies in a region. */
  synchronized boolean has(long offset) {
    return regionOf(offset) != null;
  }

  /**
   * Forgets all regions, which stay as they are; returns each one's start, and its units in use.
   */
  synchronized Map<Long, BitSet> forgetAll() {
    Map<Long, BitSet> forgotten = new TreeMap<>();
    while (current != null) {
      Region region = current;
      forgotten.put(region.start, region.used);
      emptyRegions += region.used.isEmpty() ? 0 : 1;
      remove(region);
    }
    unitsInUse = 0;
    return forgotten;
  }

  /** Adds regions that were another's until now, with their units in use. */
  synchronized void addAll(Map<Long, BitSet> others) {
    others.forEach((start, used) -> {
      Region region = addGiven(start);
      region.used.or(used);
      emptyRegions -= used.isEmpty() ? 0 : 1;
      unitsInUse += used.cardinality();
    });
  }

  /** Removes a region without extents; returns its start, or {@link #NONE} if there is none. */
  synchronized long removeEmpty() {
    Region region = current;
    for (int visited = 0; region != null && visited < regions; visited++) {
      if (region.used.isEmpty()) {
        return remove(region);
      }
      region = region.next;
    }
    return NONE;
  }

  /** Notes that the memory server has nothing left. */
  synchronized void noteFull() {
    passesLeft = PASSES;
  }

  /** Returns whether the memory server was full a short while ago. */
  synchronized boolean passBy() {
    if (passesLeft == 0) {
      return false;
    }
    passesLeft--;
    return true;
  }

  synchronized long unitsInUse() {
    return unitsInUse;
  }

  synchronized int regions() {
    return regions;
  }

  private Region addGiven(long start) {
    if ((start - Fabric.CATALOGUE_BYTES) % regionBytes != 0 || regionOf(start) != null) {
      throw new CallFailedException(
          "a memory server gave what is in use here, or no region: it may have lost its memory"
              + extent(start, regionUnits));
    }
    return add(start);
  }

  private Region add(long start) {
    int number = numberOf(start);
    if (number >= byNumber.length) {
      byNumber = Arrays.copyOf(byNumber, Math.max(2 * byNumber.length, number + 1));
    }
    Region region = new Region(start, regionUnits, current);
    byNumber[number] = region;
    regions++;
    emptyRegions++;
    if (current == null) {
      current = region;
    }
    return region;
  }

  private long remove(Region region) {
    byNumber[numberOf(region.start)] = null;
    regions--;
    emptyRegions--;
    region.previous.next = region.next;
    region.next.previous = region.previous;
    if (region == current) {
      current = regions == 0 ? null : region.next;
      currentUnit = 0;
    }
    return region.start;
  }

  private @Nullable Region regionOf(long offset) {
    int number = numberOf(offset);
    return number < byNumber.length ? byNumber[number] : null;
  }

  private int numberOf(long offset) {
    return Math.toIntExact((offset - Fabric.CATALOGUE_BYTES) / regionBytes);
  }

  private int unitOf(long offset) {
    return (int) ((offset - Fabric.CATALOGUE_BYTES) % regionBytes) / UNIT_BYTES;
  }

  private String extent(long offset, int units) {
    return ": address="
        + GlobalAddress.toString(GlobalAddress.of(server, offset))
        + ", units="
        + units
        + ", regionBytes="
        + regionBytes;
  }

  /** A region in the ring. */
  private static final class Region {
    final long start;
    final BitSet used;
    Region previous;
    Region next;

    /** Creates a region behind another one in the ring, or a ring of its own. */
    Region(long start, int units, @Nullable Region other) {
      this.start = start;
      this.used = new BitSet(units);
      this.previous = other == null ? this : other;
      this.next = other == null ? this : other.next;
      previous.next = this;
      next.previous = this;
    }

    int unitsInGaps(int leastGap, int regionUnits) {
      int free = 0;
      int start = used.isEmpty() ? regionUnits : used.nextClearBit(0);
      while (start < regionUnits) {
        int end = end(start, regionUnits);
        free += end - start >= leastGap ? end - start : 0;
        start = used.nextClearBit(end);
      }
      return free;
    }

    /** Returns the end of the gap that a unit is in. */
    int end(int unit, int regionUnits) {
      int end = used.nextSetBit(unit);
      return end < 0 ? regionUnits : end;
    }
  }
}
