package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import pando.index.CorruptNodeException;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.DirectoryNode;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.space.ExtentAllocator;

/**
 * Builds the directory of a compute server from the pages and the leaf headers in the pool, and
 * claims their space.
 */
final class DirectoryOpening implements TreeReader.Leaves {
  private final MemorySegment memory;
  private final Directory directory;
  private final LeafEntries entries;
  private final ExtentAllocator extents;
  private final TreeReader reader;

  private int[] leaves = new int[1024];
  private int count;

  DirectoryOpening(OrcaContext context) {
    this.memory = context.memory;
    this.directory = context.directory;
    this.entries = directory.entries();
    this.extents = context.space.extents();
    this.reader = new TreeReader(context);
  }

  /**
   * Reads the tree of the compute server's range, and opens the directory with it.
   *
   * @param tree all of it
   * @throws CorruptNodeException if a page or a header is damaged, or if extents overlap
   */
  void open(RangeTree tree) {
    List<List<TreeReader.Page>> levels = reader.read(tree, this);
    levels.forEach(pages -> pages.forEach(page -> claim(page.address(), DirectoryPage.BYTES)));
    directory.open(root(levels));
  }

  @Override
  public void leaf(long pointer, long header) {
    if (count == leaves.length) {
      leaves = Arrays.copyOf(leaves, 2 * count);
    }
    claim(LeafPointer.address(pointer), LeafLayout.bytes(LeafPointer.segments(pointer)));
    leaves[count++] = add(entries, memory, pointer, header);
  }

  /** Takes an entry for a leaf whose header was READ; returns it. */
  static int add(LeafEntries entries, MemorySegment memory, long pointer, long header) {
    int segments = LeafLayout.segments(memory, header);
    int width = LeafLayout.width(memory, header);
    int entry = entries.take();
    entries.setPointer(entry, pointer);
    entries.setStamp(entry, LeafLayout.stamp(memory, header));
    entries.setHeads(entry, width, segments, i -> LeafLayout.head(memory, header, i));
    entries.setRecords(entry, LeafLayout.records(memory, header), width, 0);
    return entry;
  }

  private void claim(long address, int bytes) {
    claim(extents, address, bytes);
  }

  /** Claims an extent of the pool. */
  static void claim(ExtentAllocator extents, long address, int bytes) {
    try {
      extents.claim(address, (bytes + LeafLayout.UNIT_BYTES - 1) / LeafLayout.UNIT_BYTES);
    } catch (IllegalArgumentException | IllegalStateException e) {
      throw new CorruptNodeException(address, String.valueOf(e.getMessage()));
    }
  }

  private DirectoryNode root(List<List<TreeReader.Page>> levels) {
    DirectoryNode[] below = {};
    for (List<TreeReader.Page> pages : levels.reversed()) {
      below = nodes(pages, below);
    }
    return below[0];
  }

  private DirectoryNode[] nodes(List<TreeReader.Page> pages, DirectoryNode[] below) {
    DirectoryNode[] nodes = new DirectoryNode[pages.size()];
    int from = 0;
    for (int i = 0; i < nodes.length; i++) {
      TreeReader.Page page = pages.get(i);
      int to = from + page.lows().length;
      nodes[i] =
          page.level() == 0
              ? DirectoryNode.ofLeaves(
                  page.address(), page.lows(), page.high(), Arrays.copyOfRange(leaves, from, to))
              : DirectoryNode.ofNodes(
                  page.level(),
                  page.address(),
                  page.lows(),
                  page.high(),
                  Arrays.copyOfRange(below, from, to));
      from = to;
    }
    return nodes;
  }
}
