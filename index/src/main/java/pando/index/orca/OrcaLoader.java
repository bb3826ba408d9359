package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.Partitioning;
import pando.index.load.FenceSample;
import pando.index.load.Loader;
import pando.index.orca.directory.DirectoryNode;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafPacker;
import pando.index.orca.leaf.LeafReader;
import pando.index.orca.space.ExtentAllocator;
import pando.index.pool.Workers;

/** Builds leaves out of entries in ascending order, and the directory pages of each range. */
final class OrcaLoader implements Loader {
  /*
   * Leaves are written as the entries come. Which range a leaf belongs to is often known only when
   * all are there. So then:
   *
   *   1. Each range gets a space of its own, which claims the regions in which the range has the
   *      first leaf: an owner claims regions alone.
   *   2. Leaves that lie in a region of the range before move to the space of their own range.
   *   3. The directory pages of each range are written to its space.
   *   4. The table of roots is written to the space of the first range.
   *
   * A leaf covers at least two keys. So one that would begin with the last key of its range is not
   * begun: the key goes to the leaf before it, which has room, or is cut.
   */

  /** WRITEs of one scatter. */
  private static final int WRITTEN_MAX = 16;

  private static final double PAGE_FILL = 0.9;
  private static final int PAGE_UNITS = DirectoryPage.BYTES / LeafLayout.UNIT_BYTES;

  /** A leaf of at most 249 entries is cut into pieces of four or more. */
  private static final int PIECES_MAX = 64;

  /** Leaves are filled up to a multiple of so many bytes: long ones need a smaller directory. */
  private static final int STEP_BYTES = 512;

  /** Entries that are held beyond those of a leaf: as many as fit a step. */
  private static final int AHEAD = STEP_BYTES / LeafLayout.SLOT_BYTES;

  private final OrcaServer server;
  private final List<OrcaServer> servers;
  private final int memoryServers;
  private final int regionBytes;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final long message;
  private final int imageBytes;
  private final int perLeaf;
  private final int recordsMax;
  private final int perPage;
  private final LeafPacker packer = new LeafPacker();
  private final LeafReader reader = new LeafReader();
  private final LeafCuts cuts;
  private final Pieces pieces = new Pieces(PIECES_MAX);
  private final VerbList list = new VerbList();
  private final FenceSample fences = new FenceSample();

  // Entries of the open leaf, and some more.
  private final long[] keys;
  private final long[] values;
  private int held;
  private long low;

  /** Least key of each leaf, and the pointer to it. */
  private long[] lows = new long[1024];

  private long[] pointers = new long[1024];
  private int leaves;

  /** The leaves that have heads of several bytes. */
  private final BitSet wide = new BitSet();

  /** Where leaves are allocated while they are written: a space for each time that one started. */
  private final List<ExtentAllocator> spaces = new ArrayList<>();

  /** First leaf in each of these spaces. */
  private final List<Integer> firsts = new ArrayList<>();

  /** The space of each range, once it is known; and by region, while leaves have not moved. */
  private final List<ExtentAllocator> ranges = new ArrayList<>();

  private final Map<Long, ExtentAllocator> regions = new HashMap<>();

  /** First leaf of each range, and behind the last one the number of leaves. */
  private int[] starts = new int[0];

  /** Extents that are no leaves. */
  private final List<Extent> others = new ArrayList<>();

  private record Extent(ExtentAllocator space, long address, int units) {}

  /**
   * Creates a loader.
   *
   * @param server gives memory servers in turn, and stamps
   * @param servers compute servers in this process, whose caches have to hold their directories
   */
  OrcaLoader(
      OrcaServer server, List<OrcaServer> servers, Fabric fabric, int regionBytes, double fill) {
    OrcaSettings<?> options = server.store.options;
    this.server = server;
    this.servers = servers;
    this.memoryServers = fabric.memoryServers();
    this.regionBytes = regionBytes;
    this.perLeaf = Math.max(2, (int) (options.recordsMax() * fill));
    this.perPage = Math.max(2, (int) (options.pageChildren() * PAGE_FILL));
    this.cuts = new LeafCuts(packer, options);
    this.recordsMax = options.recordsMax();
    this.keys = new long[Math.max(perLeaf + AHEAD, LeafLayout.RECORDS_MAX)];
    this.values = new long[keys.length];
    this.imageBytes = Math.max(options.nodeBytes(), DirectoryPage.BYTES);
    this.message = (long) WRITTEN_MAX * imageBytes;
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = Workers.open(fabric, registered);
    this.memory = worker.memory();
  }

  /** {@inheritDoc} It is the greatest number, as leaves fill their space. */
  @Override
  public int perLeaf() {
    return Math.min(recordsMax, perLeaf + AHEAD - 1);
  }

  // Leaves.

  @Override
  public void startLeaf(long from) {
    if (spaces.isEmpty()) {
      start(Long.MIN_VALUE);
    } else {
      writeOpen(from - 1);
      spaces.getLast().trim(worker, message);
      start(from);
    }
  }

  private void start(long from) {
    spaces.add(new ExtentAllocator(memoryServers, regionBytes));
    firsts.add(leaves);
    begin(from);
  }

  private void begin(long from) {
    low = from;
    fences.add(from);
  }

  @Override
  public void add(long key, long value) {
    if (spaces.isEmpty()) {
      start(Long.MIN_VALUE);
    }
    if (held == perLeaf + AHEAD) {
      // Another key follows in the same range, so a leaf can begin with the last one.
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
    begin(keys[0]);
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

  /** Writes all entries that are left. */
  private void writeOpen(long high) {
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
      if (i > 0) {
        fences.add(pieces.low[i]);
      }
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
        spaces
            .getLast()
            .allocate(
                worker,
                message,
                server.store.space.nextMemoryServer(),
                LeafLayout.units(segments),
                1);
    wide.set(leaves, packer.width() > 1);
    addLeaf(leafLow, LeafPointer.of(address, segments));
    pack(nextImage(), address, from);
    post(address, LeafLayout.bytes(segments));
  }

  private void addLeaf(long leafLow, long pointer) {
    if (leaves == lows.length) {
      lows = Arrays.copyOf(lows, 2 * leaves);
      pointers = Arrays.copyOf(pointers, 2 * leaves);
    }
    lows[leaves] = leafLow;
    pointers[leaves++] = pointer;
  }

  private void pack(long image, long address, int from) {
    packer.write(memory, image, address, server.store.space.nextStamp(), keys, values, from);
  }

  /** Returns the local offset of what is written next. */
  private long nextImage() {
    return (long) list.size() * imageBytes;
  }

  /** Adds the WRITE of what is at {@link #nextImage}. */
  private void post(long address, int bytes) {
    list.write(address, nextImage(), bytes);
    if (list.size() == WRITTEN_MAX) {
      writeAll();
    }
  }

  private void writeAll() {
    if (list.size() > 0) {
      worker.scatter(list);
      list.clear();
    }
  }

  @Override
  public long fence(int part, int parts) {
    return fences.at(part, parts);
  }

  @Override
  public long finish() {
    if (spaces.isEmpty()) {
      start(Long.MIN_VALUE);
    }
    writeOpen(Long.MAX_VALUE);
    writeAll();
    return GlobalAddress.NULL;
  }

  // Ranges.

  @Override
  public long divide(long root, Partitioning partitioning) {
    int count = partitioning.servers();
    spaces.forEach(space -> space.trim(worker, message));
    takeRanges(partitioning);
    checkDirectories(partitioning);
    long[] words = new long[RootTable.OWNERS];
    // Not above that of the table: of an empty index, the table before counts.
    long epoch = partitioning.epoch() - 1;
    for (int range = 0; range < count; range++) {
      moveLeaves(range);
      words[partitioning.ownerOfRange(range)] =
          RootTable.word(epoch, writePages(range, partitioning));
    }
    long table = writeTable(words);
    ranges.forEach(space -> space.trim(worker, message));
    return RootTable.pointer(table);
  }

  /** Makes a space for each range, and claims there what was allocated until now. */
  private void takeRanges(Partitioning partitioning) {
    int count = partitioning.servers();
    starts = new int[count + 1];
    for (int range = 0; range < count; range++) {
      starts[range] = Arrays.binarySearch(lows, 0, leaves, partitioning.lowOfRange(range));
      assert starts[range] >= 0 : "low=" + partitioning.lowOfRange(range);
    }
    starts[count] = leaves;
    for (int range = 0; range < count; range++) {
      ExtentAllocator space = new ExtentAllocator(memoryServers, regionBytes);
      for (int leaf = starts[range]; leaf < starts[range + 1]; leaf++) {
        long address = LeafPointer.address(pointers[leaf]);
        regions.computeIfAbsent(regionOf(address), _ -> space).claim(address, unitsOf(leaf));
      }
      ranges.add(space);
    }
  }

  /**
   * Checks, while the index is not in place yet, that the directories leave the caches room.
   *
   * @throws DirectoryTooLargeException if one does not
   */
  private void checkDirectories(Partitioning partitioning) {
    long most = 0;
    for (OrcaServer each : servers) {
      most = Math.max(most, directoryBytes(partitioning.rangeOfServer(each.number)));
    }
    server.store.options.checkDirectory(most);
  }

  private long directoryBytes(int range) {
    int from = starts[range];
    int to = starts[range + 1];
    long wideHeads = 0;
    for (int leaf = wide.nextSetBit(from);
        leaf >= 0 && leaf < to;
        leaf = wide.nextSetBit(leaf + 1)) {
      wideHeads += LeafPointer.segments(pointers[leaf]);
    }
    long bytes = LeafEntries.bytes(to - from, wideHeads);
    int children = to - from;
    for (int level = 0; ; level++) {
      bytes += DirectoryNode.bytes(level, children);
      if (children <= perPage) {
        return bytes;
      }
      children = pages(children);
    }
  }

  /** Returns the number of pages of a level that has so many children. */
  private int pages(int children) {
    return (children + perPage - 1) / perPage;
  }

  private long regionOf(long address) {
    long offset = GlobalAddress.offset(address) - Fabric.CATALOGUE_BYTES;
    return address - offset % regionBytes;
  }

  private int unitsOf(int leaf) {
    return LeafLayout.units(LeafPointer.segments(pointers[leaf]));
  }

  /** Moves the leaves of a range that lie in a region of a range before it. */
  private void moveLeaves(int range) {
    ExtentAllocator to = ranges.get(range);
    for (int leaf = starts[range]; leaf < starts[range + 1]; leaf++) {
      ExtentAllocator from =
          regions.getOrDefault(regionOf(LeafPointer.address(pointers[leaf])), to);
      if (from != to) {
        move(leaf, highOf(leaf), from, to);
      }
    }
  }

  private long highOf(int leaf) {
    return leaf + 1 < leaves ? lows[leaf + 1] - 1 : Long.MAX_VALUE;
  }

  private void move(int leaf, long high, ExtentAllocator from, ExtentAllocator to) {
    long before = LeafPointer.address(pointers[leaf]);
    int units = unitsOf(leaf);
    read(leaf, high);
    int segments = packer.segments();
    long after = to.allocate(worker, message, server.store.space.nextMemoryServer(), units, 1);
    try {
      pack(0, after, 0);
      worker.write(after, 0, LeafLayout.bytes(segments));
    } catch (Throwable e) {
      to.free(worker, message, after, units);
      throw e;
    }
    pointers[leaf] = LeafPointer.of(after, segments);
    from.free(worker, message, before, units);
  }

  /** READs a leaf, and plans one with the same entries. */
  private void read(int leaf, long high) {
    long address = LeafPointer.address(pointers[leaf]);
    int segments = LeafPointer.segments(pointers[leaf]);
    worker.read(address, 0, LeafLayout.bytes(segments));
    long stamp = LeafLayout.stamp(memory, 0);
    int count = reader.read(memory, 0, address, segments, lows[leaf], high, stamp, keys, values);
    if (count < 0) {
      throw new CorruptNodeException(address, String.valueOf(reader.problem()));
    }
    packer.plan(keys, 0, count, lows[leaf], high);
  }

  // Pages.

  /** Writes the pages of a range, level by level; returns the address of the root. */
  private long writePages(int range, Partitioning partitioning) {
    long[] childLows = Arrays.copyOfRange(lows, starts[range], starts[range + 1]);
    long[] children = Arrays.copyOfRange(pointers, starts[range], starts[range + 1]);
    for (int level = 0; ; level++) {
      int parts = pages(children.length);
      long[] pageLows = new long[parts];
      long[] pages = new long[parts];
      for (int part = 0; part < parts; part++) {
        int from = (int) ((long) children.length * part / parts);
        int to = (int) ((long) children.length * (part + 1) / parts);
        long high = to < children.length ? childLows[to] - 1 : partitioning.highOfRange(range);
        pageLows[part] = childLows[from];
        pages[part] =
            writePage(
                range,
                partitioning.ownerOfRange(range),
                level,
                high,
                childLows,
                children,
                from,
                to);
      }
      if (parts == 1) {
        writeAll();
        return LeafPointer.address(pages[0]);
      }
      childLows = pageLows;
      children = pages;
    }
  }

  private long writePage(
      int range,
      int owner,
      int level,
      long high,
      long[] childLows,
      long[] children,
      int from,
      int to) {
    long address = allocate(range, children[from], PAGE_UNITS);
    long image = nextImage();
    DirectoryPage.format(
        memory, image, level, childLows[from], high, server.store.space.nextStamp(), owner);
    for (int child = from; child < to; child++) {
      DirectoryPage.append(memory, image, childLows[child], children[child]);
    }
    DirectoryPage.seal(memory, image);
    post(address, DirectoryPage.BYTES);
    return LeafPointer.of(address, 0);
  }

  private long writeTable(long[] words) {
    long table = allocate(0, pointers[0], RootTable.BYTES / LeafLayout.UNIT_BYTES);
    for (int word = 0; word < RootTable.BYTES / Long.BYTES; word++) {
      Words.set(memory, (long) word * Long.BYTES, word < words.length ? words[word] : 0);
    }
    worker.write(table, 0, RootTable.BYTES);
    return table;
  }

  /**
   * Allocates an extent that is no leaf, at an address that is a multiple of its size. It goes to
   * the memory server of a child, so that a small range needs one region.
   */
  private long allocate(int range, long child, int units) {
    ExtentAllocator space = ranges.get(range);
    int memoryServer = GlobalAddress.server(LeafPointer.address(child));
    long address = space.allocate(worker, message, memoryServer, units, units);
    others.add(new Extent(space, address, units));
    return address;
  }

  // The end.

  @Override
  public void abandon(Throwable failure) {
    List<Runnable> steps = new ArrayList<>();
    for (int leaf = 0; leaf < leaves; leaf++) {
      ExtentAllocator space = spaceOf(leaf);
      long address = LeafPointer.address(pointers[leaf]);
      int units = unitsOf(leaf);
      steps.add(() -> space.free(worker, message, address, units));
    }
    others.forEach(extent ->
        steps.add(() -> extent.space.free(worker, message, extent.address, extent.units)));
    (ranges.isEmpty() ? spaces : ranges)
        .forEach(space -> steps.add(() -> space.trim(worker, message)));
    boolean all = true;
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException e) {
        if (all) {
          failure.addSuppressed(e);
        }
        all = false;
      }
    }
    leaves = 0;
    others.clear();
  }

  /** Returns the space that a leaf lies in. */
  private ExtentAllocator spaceOf(int leaf) {
    if (ranges.isEmpty()) {
      int run = firsts.size() - 1;
      while (firsts.get(run) > leaf) {
        run--;
      }
      return spaces.get(run);
    }
    int range = ranges.size() - 1;
    while (starts[range] > leaf) {
      range--;
    }
    return regions.getOrDefault(regionOf(LeafPointer.address(pointers[leaf])), ranges.get(range));
  }

  @Override
  public VerbCounters verbs() {
    return worker.counters();
  }

  @Override
  public void close() {
    Closing.all(worker::close, registered::close);
  }
}
