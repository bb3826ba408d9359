package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Partitioning;
import pando.index.Tree;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.leaf.LeafReader;
import pando.index.pool.Catalogue;
import pando.index.pool.Findings;
import pando.index.pool.NodePlaces;

/**
 * Walks all trees of an index in the pool and checks that every page, header and segment is whole
 * and the expected one, and that no two extents overlap. Values that only a compute server has are
 * not seen. No session may change the index meanwhile.
 */
final class OrcaWalk {
  private static final long PAGE = 0;
  private static final long LEAF = DirectoryPage.BYTES;
  private static final long MESSAGE = LEAF + LeafLayout.bytes(LeafLayout.SEGMENTS_MAX);

  private final Worker worker;
  private final MemorySegment memory;
  private final NodePlaces places;
  private final int segmentsMax;
  private final LeafReader reader = new LeafReader();
  private final long[] keys = new long[LeafLayout.RECORDS_MAX];
  private final long[] values = new long[LeafLayout.RECORDS_MAX];

  /** Units of each extent that was reached, by its address. */
  private final TreeMap<Long, Integer> extents = new TreeMap<>();

  private final Findings findings;

  private OrcaWalk(Worker worker, NodePlaces places, int segmentsMax, boolean entries) {
    this.findings = new Findings(entries);
    this.worker = worker;
    this.memory = worker.memory();
    this.places = places;
    this.segmentsMax = segmentsMax;
  }

  /**
   * Walks the index of a pool.
   *
   * @param options the options with which the index was created
   * @param entries whether to keep the entries
   * @throws IllegalStateException if the pool holds no such index
   */
  static Tree of(Fabric fabric, OrcaSettings<?> options, boolean entries) {
    NodePlaces places = new NodePlaces(fabric, RootTable.BYTES);
    try (RegisteredMemory registered = fabric.register(MESSAGE + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered)) {
      OrcaWalk walk = new OrcaWalk(worker, places, options.segmentsMax(), entries);
      Catalogue catalogue = new Catalogue(worker, MESSAGE, places, OrcaServer.SYSTEM);
      catalogue.checkClaimed(options.nodeBytes(), options.system());
      return walk.walk(catalogue);
    }
  }

  private Tree walk(Catalogue catalogue) {
    try {
      ranges(Catalogue.rootAddress(catalogue.root()), catalogue.readPartitioning());
    } catch (PandoException e) {
      findings.problem("the roots cannot be read: " + e.getMessage());
    }
    return findings.tree();
  }

  private void ranges(long table, Partitioning partitioning) {
    reach(table, RootTable.BYTES);
    int ranges = partitioning.servers();
    findings.node("table of roots", RootTable.BYTES, ranges, RootTable.OWNERS);
    OrcaRoots roots = new OrcaRoots(worker, PAGE, places, segmentsMax, table);
    roots.read();
    for (int range = 0; range < ranges; range++) {
      trees(roots, partitioning, range).forEach(this::root);
    }
  }

  /** Returns the trees of a range; none, with a problem, if they cannot be found. */
  private List<RangeTree> trees(OrcaRoots roots, Partitioning partitioning, int range) {
    try {
      return roots.trees(
          partitioning.ownerOfRange(range),
          partitioning.lowOfRange(range),
          partitioning.highOfRange(range),
          partitioning.epoch(),
          true);
    } catch (PandoException e) {
      findings.problem("range " + range + " has no root: " + e.getMessage());
      return List.of();
    }
  }

  private void root(RangeTree tree) {
    if (read(tree.page(), PAGE, DirectoryPage.BYTES)) {
      int level = DirectoryPage.level(memory, PAGE);
      long low = DirectoryPage.low(memory, PAGE);
      page(tree.page(), level, low, DirectoryPage.high(memory, PAGE), tree);
    }
  }

  /** READs an extent; returns whether that was done. */
  private boolean read(long address, long to, int bytes) {
    if (!reach(address, bytes)) {
      return false;
    }
    try {
      worker.read(address, to, bytes);
      return true;
    } catch (PandoException e) {
      problem(address, "cannot be read: " + e.getMessage());
      return false;
    }
  }

  /** Walks through a page that was READ, and what is below it. */
  private void page(long address, int level, long low, long high, RangeTree tree) {
    String problem =
        level < Catalogue.LEVELS_MAX
            ? TreeReader.problem(memory, PAGE, level, low, high, tree.giver(), segmentsMax, places)
            : "no page: level=" + level;
    if (problem != null) {
      problem(address, problem);
      return;
    }
    long[] lows = new long[DirectoryPage.count(memory, PAGE)];
    long[] pointers = new long[lows.length];
    findings.node(level + 1, DirectoryPage.BYTES, lows.length, DirectoryPage.CAPACITY);
    Arrays.setAll(lows, child -> DirectoryPage.separator(memory, PAGE, child));
    Arrays.setAll(pointers, child -> DirectoryPage.pointer(memory, PAGE, child));
    for (int child = 0; child < lows.length; child++) {
      long childHigh = child + 1 < lows.length ? lows[child + 1] - 1 : high;
      if (childHigh < tree.low() || lows[child] > tree.high()) {
        continue;
      }
      if (level == 0) {
        leaf(pointers[child], lows[child], childHigh);
      } else if (read(LeafPointer.address(pointers[child]), PAGE, DirectoryPage.BYTES)) {
        page(LeafPointer.address(pointers[child]), level - 1, lows[child], childHigh, tree);
      }
    }
  }

  private void leaf(long pointer, long low, long high) {
    long address = LeafPointer.address(pointer);
    int segments = LeafPointer.segments(pointer);
    if (!read(address, LEAF, LeafLayout.bytes(segments))) {
      return;
    }
    int count =
        reader.read(
            memory,
            LEAF,
            address,
            segments,
            low,
            high,
            LeafLayout.stamp(memory, LEAF),
            keys,
            values);
    findings.node(0, LeafLayout.bytes(segments), Math.max(count, 0), segments * LeafLayout.SLOTS);
    if (count < 0) {
      problem(address, String.valueOf(reader.problem()));
    }
    for (int i = 0; i < count; i++) {
      findings.entry(keys[i], values[i]);
    }
  }

  /** Records an extent; returns whether it overlaps no other. */
  private boolean reach(long address, int bytes) {
    int units = (bytes + LeafLayout.UNIT_BYTES - 1) / LeafLayout.UNIT_BYTES;
    Map.@Nullable Entry<Long, Integer> below =
        extents.lowerEntry(address + (long) units * LeafLayout.UNIT_BYTES);
    if (below != null
        && below.getKey() + (long) below.getValue() * LeafLayout.UNIT_BYTES > address) {
      problem(address, "overlaps the extent at " + GlobalAddress.toString(below.getKey()));
      return false;
    }
    extents.put(address, units);
    return true;
  }

  private void problem(long address, String what) {
    findings.problem("at " + GlobalAddress.toString(address) + ": " + what);
  }
}
