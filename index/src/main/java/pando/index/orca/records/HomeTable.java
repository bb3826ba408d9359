package pando.index.orca.records;

import java.util.Arrays;
import java.util.stream.IntStream;
import pando.index.orca.parts.CacheParts;
import pando.index.orca.parts.KeyHash;

/**
 * Which part of the memory has the buckets of which keys: 1,024 ranges of hashes, each of one part.
 * So a cache gains or loses a part by moving the records of some ranges. Immutable.
 */
public final class HomeTable {
  private static final int NONE = -1;
  private static final int RANGE_BITS = 10;
  private static final int RANGES = 1 << RANGE_BITS;
  private static final int RANGE_SHIFT = Long.SIZE - RANGE_BITS;

  private final CacheParts parts;
  private final long bucketsOfPart;

  /** By range, its part. */
  private final int[] partOfRange;

  /** By range, the offset of its part. */
  private final long[] offsets;

  /** How many parts have ranges; kept, as each lookup that misses asks for it. */
  private final int partsInUse;

  private HomeTable(CacheParts parts, int[] partOfRange) {
    this.parts = parts;
    this.bucketsOfPart = parts.bytesOfPart() / RecordCache.BUCKET_BYTES;
    this.partOfRange = partOfRange;
    this.offsets = Arrays.stream(partOfRange).mapToLong(parts::offset).toArray();
    this.partsInUse = inUse().length;
  }

  /** Makes a table in which some parts, at least one, have about as many ranges each. */
  static HomeTable of(CacheParts parts, int from, int to) {
    return new HomeTable(
        parts, IntStream.range(0, RANGES).map(range -> from + range % (to - from)).toArray());
  }

  /** Returns the offset of a key's home bucket. */
  long home(long key) {
    long mixed = KeyHash.of(key);
    return offsets[(int) (mixed >>> RANGE_SHIFT)]
        + Math.unsignedMultiplyHigh(mixed << RANGE_BITS, bucketsOfPart) * RecordCache.BUCKET_BYTES;
  }

  /** Returns how many parts have ranges. */
  public int partsInUse() {
    return partsInUse;
  }

  /** Returns the parts that have ranges, in ascending order. */
  public int[] inUse() {
    return Arrays.stream(partOfRange).distinct().sorted().toArray();
  }

  /** Returns whether a part has ranges. */
  public boolean isInUse(int part) {
    return Arrays.stream(partOfRange).anyMatch(found -> found == part);
  }

  /** Returns the parts that have fewer ranges in another table. */
  public int[] partsThatLose(HomeTable after) {
    return IntStream.range(0, RANGES)
        .filter(range -> partOfRange[range] != after.partOfRange[range])
        .map(range -> partOfRange[range])
        .distinct()
        .toArray();
  }

  /** Returns how many ranges a part has. */
  public int ranges(int part) {
    return (int) Arrays.stream(partOfRange).filter(found -> found == part).count();
  }

  /**
   * Returns a table in which a part that has no range has as many as others.
   *
   * @param most greatest number of ranges that go; after fewer the table is not {@link #balanced}
   */
  public HomeTable with(int part, int most) {
    int[] changed = partOfRange.clone();
    for (int i = Math.min(RANGES / (inUse().length + 1), most); i > 0; i--) {
      changed[rangeOf(changed, extreme(changed, part, true))] = part;
    }
    return new HomeTable(parts, changed);
  }

  /**
   * Returns a table in which a part, not the only one, has no range.
   *
   * @param most greatest number of ranges that go
   */
  public HomeTable without(int part, int most) {
    int[] changed = partOfRange.clone();
    for (int i = Math.min(ranges(part), most); i > 0; i--) {
      changed[rangeOf(changed, part)] = extreme(changed, part, false);
    }
    return new HomeTable(parts, changed);
  }

  /**
   * Returns a table in which all parts that have ranges have about as many each; this one if that
   * is so.
   *
   * @param most greatest number of ranges that go
   */
  public HomeTable balanced(int most) {
    int[] changed = partOfRange.clone();
    int moved = 0;
    while (moved < most) {
      int[] ranges = counts(changed);
      int giver = extreme(changed, NONE, true);
      int taker = extreme(changed, NONE, false);
      if (ranges[giver] - ranges[taker] <= 1) {
        break;
      }
      changed[rangeOf(changed, giver)] = taker;
      moved++;
    }
    return moved == 0 ? this : new HomeTable(parts, changed);
  }

  private static int rangeOf(int[] table, int part) {
    int range = 0;
    while (table[range] != part) {
      range++;
    }
    return range;
  }

  private int[] counts(int[] table) {
    int[] ranges = new int[parts.count()];
    for (int part : table) {
      ranges[part]++;
    }
    return ranges;
  }

  /** Returns the part, but one, with the most ranges or the fewest, of those that have any. */
  private int extreme(int[] table, int but, boolean most) {
    int[] ranges = counts(table);
    return IntStream.range(0, ranges.length)
        .filter(part -> part != but && ranges[part] > 0)
        .reduce((a, b) -> most == ranges[b] > ranges[a] && ranges[a] != ranges[b] ? b : a)
        .orElseThrow();
  }
}
