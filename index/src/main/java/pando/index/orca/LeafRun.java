package pando.index.orca;

import java.util.Arrays;
import java.util.BitSet;
import pando.index.load.Loader;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafPacker;
import pando.index.orca.space.ExtentAllocator;

/**
 * Leaves that one thread of a load makes out of entries in ascending order, in a space of their
 * own.
 */
final class LeafRun implements Loader.Part {
  /** What is cut at once, a leaf and what is read ahead of it, becomes 57 pieces at the most. */
  private static final int PIECES_MAX = 64;

  /** Leaves are filled up to a multiple of so many bytes: long ones need a smaller directory. */
  private static final int STEP_BYTES = 512;

  /** Entries that are held beyond those of a leaf: as many as fit a step. */
  private static final int AHEAD = STEP_BYTES / LeafLayout.SLOT_BYTES;

  private final LeafSpace places;
  private final LeafWriter writer;
  private final LeafPacker packer;
  private final LeafCuts cuts;
  private final Pieces pieces = new Pieces(PIECES_MAX);
  private final int perLeaf;
  private final int recordsMax;

  /** Where its leaves are allocated while they are written. */
  private final ExtentAllocator space;

  // Entries of the open leaf, and some more.
  private final long[] keys;
  private final long[] values;
  private int held;

  /** Least key that the run covers. */
  private final long first;

  /** Least key of the open leaf. */
  private long low;

  private boolean isFinished;

  /** Least key of each leaf, and the pointer to it. */
  private long[] lows = new long[1024];

  private long[] pointers = new long[1024];
  private int leaves;

  /** The leaves that have heads of several bytes. */
  private final BitSet wide = new BitSet();

  /**
   * Begins a run.
   *
   * @param places gives memory servers in turn, and stamps
   * @param space that holds nothing yet
   * @param perLeaf entries of a leaf, as {@link #perLeaf(OrcaSettings, double)} returns them
   * @param first least key that the run covers
   */
  LeafRun(
      LeafSpace places,
      OrcaSettings<?> options,
      LeafWriter writer,
      ExtentAllocator space,
      int perLeaf,
      long first) {
    this.places = places;
    this.writer = writer;
    this.packer = writer.packer;
    this.cuts = new LeafCuts(packer, options);
    this.recordsMax = options.recordsMax();
    this.space = space;
    this.perLeaf = perLeaf;
    this.keys = new long[Math.max(perLeaf + AHEAD, LeafLayout.RECORDS_MAX)];
    this.values = new long[keys.length];
    this.first = first;
    this.low = first;
  }

  /** Returns how many entries a leaf gets at the least, if enough are there. */
  static int perLeaf(OrcaSettings<?> options, double fill) {
    return Math.max(2, (int) (options.recordsMax() * fill));
  }

  /** Returns how many entries a leaf gets at the most, as leaves fill their space. */
  static int perLeafMax(OrcaSettings<?> options, double fill) {
    return Math.min(options.recordsMax(), perLeaf(options, fill) + AHEAD - 1);
  }

  @Override
  public void add(long key, long value) {
    if (held == perLeaf + AHEAD) {
      // Another key follows in the same run, so a leaf can begin with the last one.
      writeFull();
    }
    keys[held] = key;
    values[held++] = value;
  }

  /** Writes a leaf; the first of the entries behind it begins the next one. */
  private void writeFull() {
    int count = fullCount();
    write(count, keys[count] - 1);
    held -= count;
    System.arraycopy(keys, count, keys, 0, held);
    System.arraycopy(values, count, values, 0, held);
    low = keys[0];
  }

  /**
   * Returns the greatest number of entries, from that asked for on, whose leaf takes no more steps
   * of {@link #STEP_BYTES}.
   */
  private int fullCount() {
    int steps = steps(perLeaf);
    int count = perLeaf;
    int most = Math.min(recordsMax, held - 1);
    for (int step = AHEAD / 2; step > 0; step /= 2) {
      if (count + step <= most && steps(count + step) == steps) {
        count += step;
      }
    }
    return count;
  }

  private int steps(int count) {
    int segments = packer.plan(keys, 0, count, low, keys[count] - 1);
    return segments == 0 ? 0 : Math.ceilDiv(LeafLayout.bytes(segments), STEP_BYTES);
  }

  /** Writes the entries that are left, once. */
  void finish(long high) {
    if (isFinished) {
      return;
    }
    isFinished = true;
    if (held > perLeaf && keys[held - 1] < high) {
      writeFull();
    }
    write(held, high);
    held = 0;
  }

  /** Writes the first entries to a leaf, or to several if they do not fit one. */
  private void write(int count, long high) {
    pieces.clear();
    cuts.cut(keys, 0, count, low, high, pieces);
    for (int i = 0; i < pieces.count; i++) {
      if (pieces.count > 1) {
        packer.plan(keys, pieces.from[i], pieces.records[i], pieces.low[i], pieces.high[i]);
      }
      writePlanned(pieces.low[i], pieces.from[i]);
    }
  }

  /** Writes the leaf that is planned, sooner or later. */
  private void writePlanned(long leafLow, int from) {
    int segments = packer.segments();
    long address =
        space.allocate(
            writer.worker,
            writer.message,
            places.nextMemoryServer(),
            LeafLayout.units(segments),
            1);
    wide.set(leaves, packer.width() > 1);
    addLeaf(leafLow, LeafPointer.of(address, segments));
    packer.write(
        writer.memory, writer.nextImage(), address, places.nextStamp(), keys, values, from);
    writer.post(address, LeafLayout.bytes(segments));
  }

  private void addLeaf(long leafLow, long pointer) {
    if (leaves == lows.length) {
      lows = Arrays.copyOf(lows, 2 * leaves);
      pointers = Arrays.copyOf(pointers, 2 * leaves);
    }
    lows[leaves] = leafLow;
    pointers[leaves++] = pointer;
  }

  /** Returns the least key that it covers. */
  long first() {
    return first;
  }

  /** Returns the number of leaves. */
  int leaves() {
    return leaves;
  }

  /** Adds its leaves to those before them. */
  void copy(long[] toLows, long[] toPointers, BitSet toWide, int from) {
    System.arraycopy(lows, 0, toLows, from, leaves);
    System.arraycopy(pointers, 0, toPointers, from, leaves);
    wide.stream().forEach(leaf -> toWide.set(from + leaf));
  }

  /** Returns the pointer to a leaf. */
  long pointer(int leaf) {
    return pointers[leaf];
  }

  /** Returns where its leaves were allocated. */
  ExtentAllocator space() {
    return space;
  }
}
