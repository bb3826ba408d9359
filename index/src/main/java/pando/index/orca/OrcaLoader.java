package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.Partitioning;
import pando.index.load.Loader;
import pando.index.orca.directory.DirectoryNode;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafReader;
import pando.index.orca.space.ExtentAllocator;

/**
 * Builds leaves out of entries in ascending order, by one thread or several, and the directory
 * pages of each range.
 */
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

  private static final double PAGE_FILL = 0.9;
  private static final int PAGE_UNITS = DirectoryPage.BYTES / LeafLayout.UNIT_BYTES;

  private final OrcaServer server;
  private final List<OrcaServer> servers;
  private final Fabric fabric;
  private final OrcaSettings<?> options;
  private final int regionBytes;
  private final double fill;
  private final int perPage;

  /** A writer for each thread; the first one belongs to the thread that calls this object. */
  private final List<LeafWriter> writers = new ArrayList<>();

  private final LeafWriter own;

  /** The runs of leaves: one for each time that a leaf was started, then one for each part. */
  private final List<LeafRun> runs = new ArrayList<>();

  /** Receives what is added here. */
  private @Nullable LeafRun open;

  /** Least key of each leaf, and the pointer to it, once all are written. */
  private long[] lows = new long[0];

  private long[] pointers = new long[0];

  /** The leaves that have heads of several bytes. */
  private final BitSet wide = new BitSet();

  /** The space of each range, once it is known; and by region, while leaves have not moved. */
  private final List<ExtentAllocator> ranges = new ArrayList<>();

  private final Map<Long, ExtentAllocator> regions = new HashMap<>();

  /** First leaf of each range, and behind the last one the number of leaves. */
  private int[] starts = new int[0];

  /** Extents that are no leaves. */
  private final List<Extent> others = new ArrayList<>();

  // Entries of a leaf that moves.
  private final LeafReader reader = new LeafReader();
  private final long[] keys = new long[LeafLayout.RECORDS_MAX];
  private final long[] values = new long[LeafLayout.RECORDS_MAX];

  private record Extent(ExtentAllocator space, long address, int units) {}

  /**
   * Creates a loader.
   *
   * @param server gives memory servers in turn, and stamps
   * @param servers compute servers in this process, whose caches have to hold their directories
   */
  OrcaLoader(
      OrcaServer server, List<OrcaServer> servers, Fabric fabric, int regionBytes, double fill) {
    this.server = server;
    this.servers = servers;
    this.fabric = fabric;
    this.options = server.store.options;
    this.regionBytes = regionBytes;
    this.fill = fill;
    this.perPage = Math.max(2, (int) (options.pageChildren() * PAGE_FILL));
    this.own = openWriter();
  }

  private LeafWriter openWriter() {
    LeafWriter writer = new LeafWriter(fabric, options);
    writers.add(writer);
    return writer;
  }

  /** {@inheritDoc} It is the greatest number, as leaves fill their space. */
  @Override
  public int perLeaf() {
    return LeafRun.perLeafMax(options, fill);
  }

  // Leaves.

  /** {@inheritDoc} A simulated pool has no threads but its own. */
  @Override
  public int threads() {
    return fabric.capabilities().simulated() ? 1 : Runtime.getRuntime().availableProcessors();
  }

  @Override
  public Part part(long low) {
    LeafRun _ = open();
    return begin(openWriter(), low);
  }

  private LeafRun begin(LeafWriter writer, long low) {
    ExtentAllocator space = newSpace();
    int perLeaf = LeafRun.perLeaf(options, fill);
    LeafRun run = new LeafRun(server.store.space, options, writer, space, perLeaf, low);
    runs.add(run);
    return run;
  }

  private ExtentAllocator newSpace() {
    return new ExtentAllocator(fabric.memoryServers(), regionBytes);
  }

  /** Returns the run to which this thread adds. */
  private LeafRun open() {
    LeafRun run = open;
    if (run == null) {
      run = begin(own, Long.MIN_VALUE);
      open = run;
    }
    return run;
  }

  @Override
  public void startLeaf(long from) {
    LeafRun before = open;
    if (before == null) {
      LeafRun _ = open();
      return;
    }
    before.finish(from - 1);
    trim(before.space());
    open = begin(own, from);
  }

  @Override
  public void add(long key, long value) {
    open().add(key, value);
  }

  @Override
  public long finish() {
    LeafRun _ = open();
    int leaves = 0;
    for (int i = 0; i < runs.size(); i++) {
      runs.get(i).finish(i + 1 < runs.size() ? runs.get(i + 1).first() - 1 : Long.MAX_VALUE);
      leaves += runs.get(i).leaves();
    }
    writers.forEach(LeafWriter::writeAll);
    lows = new long[leaves];
    pointers = new long[leaves];
    int from = 0;
    for (LeafRun run : runs) {
      run.copy(lows, pointers, wide, from);
      from += run.leaves();
    }
    return GlobalAddress.NULL;
  }

  @Override
  public long fence(int part, int parts) {
    return lows[(int) ((long) part * lows.length / parts)];
  }

  // Ranges.

  @Override
  public long divide(long root, Partitioning partitioning) {
    int count = partitioning.servers();
    runs.forEach(run -> trim(run.space()));
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
    ranges.forEach(this::trim);
    return RootTable.pointer(table);
  }

  private void trim(ExtentAllocator space) {
    space.trim(own.worker, own.message);
  }

  /** Makes a space for each range, and claims there what was allocated until now. */
  private void takeRanges(Partitioning partitioning) {
    int count = partitioning.servers();
    starts = new int[count + 1];
    for (int range = 0; range < count; range++) {
      starts[range] = Arrays.binarySearch(lows, partitioning.lowOfRange(range));
      assert starts[range] >= 0 : "low=" + partitioning.lowOfRange(range);
    }
    starts[count] = lows.length;
    for (int range = 0; range < count; range++) {
      ExtentAllocator space = newSpace();
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
    options.checkDirectory(most);
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
    return leaf + 1 < lows.length ? lows[leaf + 1] - 1 : Long.MAX_VALUE;
  }

  private void move(int leaf, long high, ExtentAllocator from, ExtentAllocator to) {
    long before = LeafPointer.address(pointers[leaf]);
    int units = unitsOf(leaf);
    read(leaf, high);
    int segments = own.packer.segments();
    long after =
        to.allocate(own.worker, own.message, server.store.space.nextMemoryServer(), units, 1);
    try {
      long stamp = server.store.space.nextStamp();
      own.packer.write(own.memory, 0, after, stamp, keys, values, 0);
      own.worker.write(after, 0, LeafLayout.bytes(segments));
    } catch (Throwable e) {
      to.free(own.worker, own.message, after, units);
      throw e;
    }
    pointers[leaf] = LeafPointer.of(after, segments);
    from.free(own.worker, own.message, before, units);
  }

  /** READs a leaf, and plans one with the same entries. */
  private void read(int leaf, long high) {
    long address = LeafPointer.address(pointers[leaf]);
    int segments = LeafPointer.segments(pointers[leaf]);
    own.worker.read(address, 0, LeafLayout.bytes(segments));
    long stamp = LeafLayout.stamp(own.memory, 0);
    int count =
        reader.read(own.memory, 0, address, segments, lows[leaf], high, stamp, keys, values);
    if (count < 0) {
      throw new CorruptNodeException(address, String.valueOf(reader.problem()));
    }
    own.packer.plan(keys, 0, count, lows[leaf], high);
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
        own.writeAll();
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
    MemorySegment memory = own.memory;
    long image = own.nextImage();
    DirectoryPage.format(
        memory, image, level, childLows[from], high, server.store.space.nextStamp(), owner);
    for (int child = from; child < to; child++) {
      DirectoryPage.append(memory, image, childLows[child], children[child]);
    }
    DirectoryPage.seal(memory, image);
    own.post(address, DirectoryPage.BYTES);
    return LeafPointer.of(address, 0);
  }

  private long writeTable(long[] words) {
    long table = allocate(0, pointers[0], RootTable.BYTES / LeafLayout.UNIT_BYTES);
    for (int word = 0; word < RootTable.BYTES / Long.BYTES; word++) {
      Words.set(own.memory, (long) word * Long.BYTES, word < words.length ? words[word] : 0);
    }
    own.worker.write(table, 0, RootTable.BYTES);
    return table;
  }

  /**
   * Allocates an extent that is no leaf, at an address that is a multiple of its size. It goes to
   * the memory server of a child, so that a small range needs one region.
   */
  private long allocate(int range, long child, int units) {
    ExtentAllocator space = ranges.get(range);
    int memoryServer = GlobalAddress.server(LeafPointer.address(child));
    long address = space.allocate(own.worker, own.message, memoryServer, units, units);
    others.add(new Extent(space, address, units));
    return address;
  }

  // The end.

  @Override
  public void abandon(Throwable failure) {
    List<Runnable> steps = new ArrayList<>();
    if (ranges.isEmpty()) {
      runs.forEach(run -> addFrees(run, steps));
    } else {
      addFrees(steps);
    }
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
    runs.clear();
    ranges.clear();
  }

  private void addFrees(LeafRun run, List<Runnable> steps) {
    for (int leaf = 0; leaf < run.leaves(); leaf++) {
      long pointer = run.pointer(leaf);
      steps.add(() -> free(run.space(), pointer));
    }
    steps.add(() -> trim(run.space()));
  }

  private void addFrees(List<Runnable> steps) {
    for (int leaf = 0; leaf < lows.length; leaf++) {
      ExtentAllocator space = spaceOf(leaf);
      long pointer = pointers[leaf];
      steps.add(() -> free(space, pointer));
    }
    others.forEach(extent ->
        steps.add(() -> extent.space.free(own.worker, own.message, extent.address, extent.units)));
    ranges.forEach(space -> steps.add(() -> trim(space)));
  }

  private void free(ExtentAllocator space, long pointer) {
    int units = LeafLayout.units(LeafPointer.segments(pointer));
    space.free(own.worker, own.message, LeafPointer.address(pointer), units);
  }

  /** Returns the space that a leaf lies in, once ranges have spaces. */
  private ExtentAllocator spaceOf(int leaf) {
    int range = ranges.size() - 1;
    while (starts[range] > leaf) {
      range--;
    }
    return regions.getOrDefault(regionOf(LeafPointer.address(pointers[leaf])), ranges.get(range));
  }

  @Override
  public VerbCounters verbs() {
    VerbCounters all = new VerbCounters();
    writers.forEach(writer -> all.add(writer.worker.counters()));
    return all;
  }

  @Override
  public void close() {
    Closing.all(writers.stream().<Runnable>map(writer -> writer::close).toList());
  }
}
