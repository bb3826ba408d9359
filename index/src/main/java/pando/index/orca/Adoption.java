package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.PoolFullException;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.DirectoryNode;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.orca.space.ExtentAllocator;
import pando.index.session.Failures;

/**
 * Makes gifts part of the tree of a compute server, while no operation is under way there. The
 * caller holds the lock of the partition table.
 */
final class Adoption {
  /*
   * The leaves of gifts stay where they are: regions in which nobody has others. Directory pages
   * are written anew, for all leaves, as pages are few. The root word makes them the tree; from
   * then on its epoch says that the gifts count no more. Last, gifts are erased, and old pages
   * freed.
   */

  private static final int PAGE_UNITS = DirectoryPage.BYTES / LeafLayout.UNIT_BYTES;

  private final OrcaContext context;
  private final MemorySegment memory;
  private final Directory directory;
  private final LeafEntries entries;
  private final OrcaRoots roots;
  private final TreeReader reader;
  private final PageWriter writer;
  private final ExtentAllocator space;
  private final PageWriter.Leaves leaves = new PageWriter.Leaves();
  private final List<Integer> taken = new ArrayList<>();
  private final List<Integer> gifts = new ArrayList<>();

  /** Pages that the tree needs no more. */
  private final List<Long> before = new ArrayList<>();

  private final Failures failures = new Failures();

  /** Bytes of the gifts of others. */
  private long given;

  /**
   * Prepares the adoption.
   *
   * @param roots the table of roots as it was READ
   */
  Adoption(OrcaContext context, OrcaRoots roots) {
    this.context = context;
    this.memory = context.memory;
    this.directory = context.directory;
    this.entries = directory.entries();
    this.roots = roots;
    this.reader = new TreeReader(context);
    this.writer = new PageWriter(context);
    this.space = context.space.newSpace();
  }

  /** Opens the directory with trees of which some are gifts, or have other keys as well. */
  void open(List<RangeTree> trees) {
    if (context.range.low() == Long.MIN_VALUE) {
      DirectoryOpening.claim(space, context.root.table(), RootTable.BYTES);
    }
    adopt(() -> trees.forEach(this::read));
  }

  /**
   * Adds what a range has beyond the one that the compute server has now, if any.
   *
   * @param low least key of the range
   * @param high greatest key of the range
   * @param epoch of the partition table that gives it
   */
  void takeOn(long low, long high, long epoch) {
    boolean isNew = context.range.low() > context.range.high();
    if (low == Long.MIN_VALUE && (isNew || context.range.low() > low)) {
      DirectoryOpening.claim(space, context.root.table(), RootTable.BYTES);
      given += space.bytesInUse();
    }
    adopt(() -> {
      if (isNew) {
        read(low, high, epoch);
        return;
      }
      if (low < context.range.low()) {
        read(low, context.range.low() - 1, epoch);
      }
      directory.forEachLeaf((leafLow, leafHigh, entry) -> leaves.add(leafLow, entry, leafHigh));
      before.addAll(directory.pages());
      if (high > context.range.high()) {
        read(context.range.high() + 1, high, epoch);
      }
    });
  }

  private void read(long low, long high, long epoch) {
    roots.trees(context.number, low, high, epoch, false).forEach(this::read);
  }

  private void read(RangeTree tree) {
    long bytes = space.bytesInUse();
    for (List<TreeReader.Page> pages : reader.read(tree, this::addLeaf)) {
      for (TreeReader.Page page : pages) {
        DirectoryOpening.claim(space, page.address(), DirectoryPage.BYTES);
        before.add(page.address());
      }
    }
    if (tree.gift() != RangeTree.OWN) {
      gifts.add(tree.gift());
      given += tree.giver() == context.number ? 0 : space.bytesInUse() - bytes;
    }
  }

  private void addLeaf(long pointer, long header) {
    DirectoryOpening.claim(
        space, LeafPointer.address(pointer), LeafLayout.bytes(LeafPointer.segments(pointer)));
    int entry = DirectoryOpening.add(entries, memory, pointer, header);
    taken.add(entry);
    leaves.add(LeafLayout.low(memory, header), entry, LeafLayout.high(memory, header));
  }

  private void adopt(Runnable reading) {
    DirectoryNode root;
    try {
      reading.run();
      root = writer.write(leaves, context.number, _ -> allocatePage());
    } catch (Throwable e) {
      abandon(e);
      throw e;
    }
    failures.collect(() -> space.trim(context.worker, context.message));
    context.space.take(space, given);
    failures.collect(() -> {
      context.root.replaceSurely(context.worker, root.address());
      gifts.forEach(gift -> failures.collect(() -> roots.erase(gift)));
      PageWriter.free(context, before, failures);
    });
    directory.replaceAll(root);
  }

  /** Throws what could not be done in the pool; the compute server has the keys anyway. */
  void rethrow() {
    failures.rethrow();
  }

  /** Places a page between the leaves of gifts where the pool has no more room. */
  private long allocatePage() {
    try {
      return context.space.allocatePage(context.worker, context.message);
    } catch (PoolFullException _) {
      return context.space.allocatePage(space, context.worker, context.message);
    }
  }

  /** Gives back what was taken; other failures join the first. */
  private void abandon(Throwable failure) {
    taken.forEach(entries::free);
    for (long page : writer.pages()) {
      failures.collect(() -> freePage(page));
    }
    failures.collect(() -> space.trim(context.worker, context.message));
    failures.join(failure);
  }

  private void freePage(long page) {
    if (space.holds(page)) {
      space.free(context.worker, context.message, page, PAGE_UNITS);
    } else {
      context.space.freePage(context.worker, context.message, page);
    }
  }
}
