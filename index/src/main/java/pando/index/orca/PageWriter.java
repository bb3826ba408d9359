package pando.index.orca;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.ToLongFunction;
import pando.fabric.VerbList;
import pando.index.orca.directory.DirectoryNode;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafPointer;
import pando.index.session.Failures;

/** Writes all directory pages of a tree anew, above leaves that are there. */
final class PageWriter {
  /** So that leaves can be split without a change of the pages above. */
  private static final double FILL = 0.9;

  private final OrcaContext context;
  private final LeafEntries entries;
  private final int perPage;
  private final VerbList list = new VerbList();
  private final List<Long> pages = new ArrayList<>();

  PageWriter(OrcaContext context) {
    this.context = context;
    this.entries = context.directory.entries();
    this.perPage = Math.max(2, (int) (context.options.pageChildren() * FILL));
  }

  /** Leaves beside each other: the least key and the entry of each, and the greatest key of all. */
  static final class Leaves {
    long[] lows = new long[64];
    int[] entries = new int[64];
    int count;
    long high;

    void add(long low, int entry, long leafHigh) {
      if (count == lows.length) {
        lows = Arrays.copyOf(lows, 2 * count);
        entries = Arrays.copyOf(entries, 2 * count);
      }
      lows[count] = low;
      entries[count++] = entry;
      high = leafHigh;
    }
  }

  /**
   * Writes the pages.
   *
   * @param owner compute server that the pages name
   * @param place allocates the place of a page
   * @return the root
   */
  DirectoryNode write(Leaves leaves, int owner, ToLongFunction<OrcaContext> place) {
    pages.clear();
    list.clear();
    DirectoryNode[] below = new DirectoryNode[0];
    long[] lows = Arrays.copyOf(leaves.lows, leaves.count);
    for (int level = 0; ; level++) {
      int parts = (lows.length + perPage - 1) / perPage;
      DirectoryNode[] nodes = new DirectoryNode[parts];
      long[] nodeLows = new long[parts];
      for (int part = 0; part < parts; part++) {
        int from = (int) ((long) lows.length * part / parts);
        int to = (int) ((long) lows.length * (part + 1) / parts);
        long high = to < lows.length ? lows[to] - 1 : leaves.high;
        long address = place.applyAsLong(context);
        pages.add(address);
        long[] some = Arrays.copyOfRange(lows, from, to);
        nodes[part] =
            level == 0
                ? DirectoryNode.ofLeaves(
                    address, some, high, Arrays.copyOfRange(leaves.entries, from, to))
                : DirectoryNode.ofNodes(
                    level, address, some, high, Arrays.copyOfRange(below, from, to));
        nodeLows[part] = lows[from];
        write(nodes[part], owner);
      }
      if (parts == 1) {
        post();
        return nodes[0];
      }
      below = nodes;
      lows = nodeLows;
    }
  }

  private void write(DirectoryNode node, int owner) {
    long image = context.page(list.size());
    format(context, image, node, owner, entries::pointer);
    list.write(node.address(), image, DirectoryPage.BYTES);
    if (list.size() == OrcaContext.PAGES) {
      post();
    }
  }

  /**
   * Writes the bytes of a node's page to local memory.
   *
   * @param owner compute server that the page names
   * @param pointers the pointer to the leaf of an entry
   */
  static void format(
      OrcaContext context, long image, DirectoryNode node, int owner, IntToLongFunction pointers) {
    DirectoryPage.format(
        context.memory,
        image,
        node.level(),
        node.low(),
        node.high(),
        context.space.nextStamp(),
        owner);
    for (int child = 0; child < node.size(); child++) {
      long pointer =
          node.level() == 0
              ? pointers.applyAsLong(node.leaf(child))
              : LeafPointer.of(node.node(child).address(), 0);
      DirectoryPage.append(context.memory, image, node.low(child), pointer);
    }
    DirectoryPage.seal(context.memory, image);
  }

  private void post() {
    if (list.size() > 0) {
      context.worker.scatter(list);
      list.clear();
    }
  }

  /** Returns the places of the pages that were written last, or that a failure left. */
  List<Long> pages() {
    return List.copyOf(pages);
  }

  /** Frees pages; collects failures. */
  static void free(OrcaContext context, List<Long> pages, Failures failures) {
    for (long page : pages) {
      failures.collect(() -> context.space.freePage(context.worker, context.message, page));
    }
  }
}
