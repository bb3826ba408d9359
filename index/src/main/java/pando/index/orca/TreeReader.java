package pando.index.orca;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;
import pando.index.session.Retry;

/**
 * Reads the tree of one range from the pool: its directory pages, and the headers of its leaves.
 * Checks all of that. No session may change the tree meanwhile.
 */
final class TreeReader {
  private static final int PAGES = OrcaContext.PAGES;
  private static final int HEADERS = 32;

  static {
    if (HEADERS * LeafLayout.HEADER_BYTES > PAGES * DirectoryPage.BYTES) {
      throw new AssertionError("no room for headers: headers=" + HEADERS + ", pages=" + PAGES);
    }
  }

  /** A directory page that was READ. */
  static final class Page {
    private final long address;
    private final int level;
    private final long high;
    private final long[] lows;
    private final long[] pointers;

    private Page(long address, int level, long high, int children) {
      this.address = address;
      this.level = level;
      this.high = high;
      this.lows = new long[children];
      this.pointers = new long[children];
    }

    /** Returns its global address. */
    long address() {
      return address;
    }

    /** Returns the levels between it and the leaves. */
    int level() {
      return level;
    }

    /** Returns the greatest key that it covers. */
    long high() {
      return high;
    }

    /** Returns the greatest key of a child. */
    long high(int child) {
      return child + 1 < lows.length ? lows[child + 1] - 1 : high;
    }

    /** Returns the least key of each child; not a copy. */
    long[] lows() {
      return lows;
    }

    /** Returns the {@link LeafPointer} of each child; not a copy. */
    long[] pointers() {
      return pointers;
    }
  }

  /** Receives the leaves of a tree in the order of their keys. */
  interface Leaves {
    /**
     * Receives a leaf.
     *
     * @param pointer to the leaf
     * @param header local offset of its header, which is overwritten afterwards
     */
    void leaf(long pointer, long header);
  }

  private interface Child {
    void read(Page parent, int child, long at);
  }

  private final Worker worker;
  private final MemorySegment memory;
  private final long buffer;
  private final NodePlaces places;
  private final int segmentsMax;
  private final VerbList list = new VerbList();

  /** The pages whose children are READ together, and which of their children these are. */
  private final Page[] parents = new Page[HEADERS];

  private final int[] children = new int[HEADERS];

  TreeReader(OrcaContext context) {
    this.worker = context.worker;
    this.memory = context.memory;
    this.buffer = context.page(0);
    this.places = context.places;
    this.segmentsMax = context.options.segmentsMax();
  }

  /** Returns the root word of a compute server, 0 if there is none. */
  long rootWord(long table, int owner) {
    long address = RootTable.wordAddress(table, owner);
    Retry.untilDone(worker, () -> worker.read(address, buffer, Long.BYTES));
    return Words.get(memory, buffer);
  }

  /**
   * Reads the tree of a compute server's range, which has just its keys.
   *
   * @param table global address of the {@link RootTable}
   * @param owner the compute server
   * @param low least key of the range
   * @param high greatest key of the range
   * @param leaves receives the leaves
   * @return the pages by level, the root first, each level in the order of keys
   * @throws CorruptNodeException if a page or a header is damaged
   */
  List<List<Page>> read(long table, int owner, long low, long high, Leaves leaves) {
    long word = rootWord(table, owner);
    String problem = RootTable.problem(word, places);
    if (problem != null) {
      throw new CorruptNodeException(RootTable.wordAddress(table, owner), problem);
    }
    return read(new RangeTree(RootTable.page(word), owner, RangeTree.OWN, low, high, true), leaves);
  }

  /**
   * Reads a tree as far as it counts. Pages have those children alone that have such keys.
   *
   * @param leaves receives the leaves
   * @return the pages by level, the root first, each level in the order of keys
   * @throws CorruptNodeException if a page or a header is damaged
   */
  List<List<Page>> read(RangeTree tree, Leaves leaves) {
    List<List<Page>> levels = new ArrayList<>();
    levels.add(List.of(readRoot(tree)));
    while (levels.getLast().getFirst().level() > 0) {
      List<Page> below = new ArrayList<>();
      readChildren(
          levels.getLast(),
          PAGES,
          DirectoryPage.BYTES,
          (parent, child, at) ->
              below.add(
                  page(
                      LeafPointer.address(parent.pointers[child]),
                      at,
                      parent.level - 1,
                      parent.lows[child],
                      parent.high(child),
                      tree)));
      levels.add(below);
    }
    readChildren(
        levels.getLast(),
        HEADERS,
        LeafLayout.HEADER_BYTES,
        (parent, child, at) -> {
          checkHeader(parent, child, at);
          leaves.leaf(parent.pointers[child], at);
        });
    return levels;
  }

  private Page readRoot(RangeTree tree) {
    Retry.untilDone(worker, () -> worker.read(tree.page(), buffer, DirectoryPage.BYTES));
    int level = DirectoryPage.level(memory, buffer);
    long low = DirectoryPage.low(memory, buffer);
    long high = DirectoryPage.high(memory, buffer);
    if (level >= Catalogue.LEVELS_MAX || low > tree.low() || high < tree.high()) {
      throw new CorruptNodeException(
          tree.page(),
          "no root of the keys: level=%s, low=%s, high=%s, lowNeeded=%s, highNeeded=%s"
              .formatted(level, low, high, tree.low(), tree.high()));
    }
    return page(tree.page(), buffer, level, low, high, tree);
  }

  /** READs all children of some pages, several at a time. */
  private void readChildren(List<Page> pages, int together, int bytes, Child child) {
    int held = 0;
    for (Page page : pages) {
      for (int i = 0; i < page.pointers.length; i++) {
        parents[held] = page;
        children[held] = i;
        list.read(LeafPointer.address(page.pointers[i]), buffer + (long) held * bytes, bytes);
        if (++held == together) {
          readHeld(held, bytes, child);
          held = 0;
        }
      }
    }
    readHeld(held, bytes, child);
  }

  private void readHeld(int held, int bytes, Child child) {
    if (held == 0) {
      return;
    }
    Retry.untilDone(worker, () -> worker.scatter(list));
    list.clear();
    for (int i = 0; i < held; i++) {
      child.read(parents[i], children[i], buffer + (long) i * bytes);
    }
  }

  private Page page(long address, long at, int level, long low, long high, RangeTree tree) {
    String problem = problem(memory, at, level, low, high, tree.giver(), segmentsMax, places);
    if (problem != null) {
      throw new CorruptNodeException(address, problem);
    }
    int count = DirectoryPage.count(memory, at);
    int first = 0;
    while (first + 1 < count && DirectoryPage.separator(memory, at, first + 1) <= tree.low()) {
      first++;
    }
    int end = count;
    while (end > first + 1 && DirectoryPage.separator(memory, at, end - 1) > tree.high()) {
      end--;
    }
    long last = end < count ? DirectoryPage.separator(memory, at, end) - 1 : high;
    Page page = new Page(address, level, last, end - first);
    for (int child = first; child < end; child++) {
      page.lows[child - first] = DirectoryPage.separator(memory, at, child);
      page.pointers[child - first] = DirectoryPage.pointer(memory, at, child);
    }
    if (level == 0 && (page.lows[0] < tree.low() || last > tree.high())) {
      throw new CorruptNodeException(
          address,
          "has a leaf beyond the keys that it counts for: low=%s, high=%s, lowNeeded=%s, highNeeded=%s"
              .formatted(page.lows[0], last, tree.low(), tree.high()));
    }
    return page;
  }

  /**
   * Returns what is wrong with a page that was READ, its pointers included, or null.
   *
   * @param at local offset of the page
   * @param segmentsMax greatest number of segments of a leaf
   */
  static @Nullable String problem(
      MemorySegment memory,
      long at,
      int level,
      long low,
      long high,
      int owner,
      int segmentsMax,
      NodePlaces places) {
    String problem = DirectoryPage.problem(memory, at, level, low, high, owner);
    for (int child = 0; problem == null && child < DirectoryPage.count(memory, at); child++) {
      long pointer = DirectoryPage.pointer(memory, at, child);
      problem = LeafPointer.problem(pointer, level, places);
      if (problem == null && LeafPointer.segments(pointer) > segmentsMax) {
        problem =
            "a leaf with too many segments: segments="
                + LeafPointer.segments(pointer)
                + ", greatest="
                + segmentsMax;
      }
    }
    return problem;
  }

  private void checkHeader(Page parent, int child, long at) {
    long pointer = parent.pointers[child];
    String problem = LeafLayout.problem(memory, at);
    if (problem != null) {
      throw new CorruptNodeException(LeafPointer.address(pointer), problem);
    }
    if (LeafLayout.segments(memory, at) != LeafPointer.segments(pointer)
        || LeafLayout.low(memory, at) != parent.lows[child]
        || LeafLayout.high(memory, at) != parent.high(child)) {
      throw new CorruptNodeException(
          LeafPointer.address(pointer),
          "is another leaf: segments=%s, low=%s, high=%s; expected: segments=%s, low=%s, high=%s"
              .formatted(
                  LeafLayout.segments(memory, at),
                  LeafLayout.low(memory, at),
                  LeafLayout.high(memory, at),
                  LeafPointer.segments(pointer),
                  parent.lows[child],
                  parent.high(child)));
    }
  }
}
