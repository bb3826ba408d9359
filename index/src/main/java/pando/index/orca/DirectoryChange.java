package pando.index.orca;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.DirectoryNode;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.directory.LeafView;
import pando.index.orca.leaf.LeafPacker;
import pando.index.session.Failures;
import pando.index.session.Retry;

/**
 * Puts the leaves of a merge into the directory in place of those that were merged: first in the
 * pool, then in memory.
 */
final class DirectoryChange {
  /*
   * One leaf in place of one: its pointer in the page is replaced by a WRITE of 8 bytes, under the
   * latch of the node.
   *
   * Otherwise separators change. The page becomes a new one, or several, or takes a neighbour along
   * where both have few children; then the page above it has one child in place of one, or changes
   * in the same way. All new pages are written first; then one word makes them part of the tree: a
   * pointer of 8 bytes in the lowest page that stays, or the root word. As leaves below may change
   * their pointers meanwhile, all this happens under the latches of the level-0 nodes that are
   * replaced; and under the latch of the directory's structure. A page that only takes one more or
   * one less shares that with others: they change other words of the page above, which stays.
   */

  /** Waits for the latch of the structure are ahead of others for this fraction of their limit. */
  private static final int AHEAD_SHARE = 16;

  /** Greatest fill of a page that is joined with its neighbour. */
  private static final double JOINED_SHARE = 0.95;

  private final OrcaContext context;
  private final HeldLeaves held;
  private final Worker worker;
  private final Directory directory;
  private final LeafEntries entries;
  private final VerbList list = new VerbList();
  private final int childrenMax;

  /** Number of children below which a node is joined with a neighbour. */
  private final int childrenMin;

  /** How long it may keep others from sharing the latch of the structure, in nanoseconds. */
  private final long aheadNanos;

  private LeafView view;
  private List<LeafView> merged = List.of();
  private Pieces pieces;
  private boolean shares;
  private boolean excludes;
  private boolean uncertain;

  /** Level-0 nodes that are latched. */
  private final List<DirectoryNode> latched = new ArrayList<>();

  /** Nodes that go. */
  private final List<DirectoryNode> before = new ArrayList<>();

  /** Nodes that come. */
  private final List<DirectoryNode> after = new ArrayList<>();

  /** Node whose child is replaced in place, {@code null} if the root is replaced. */
  private @Nullable DirectoryNode holder;

  /** What replaces the root, or the child of the holder. */
  private @Nullable DirectoryNode top;

  private final List<DirectoryNode> path = new ArrayList<>();

  /** Places of pages that this change has allocated. */
  private final List<Long> allocated = new ArrayList<>();

  /** Those of them that it turned out not to need. */
  private final List<Long> unused = new ArrayList<>();

  /** Number of entries that this change has taken, and latched: for the last pieces. */
  private int taken;

  private boolean published;

  DirectoryChange(OrcaContext context, HeldLeaves held) {
    this.context = context;
    this.held = held;
    this.worker = context.worker;
    this.directory = context.directory;
    this.entries = directory.entries();
    this.childrenMax = context.options.pageChildren();
    this.childrenMin = Math.max(2, childrenMax * 2 / 3);
    this.aheadNanos = context.options.lockWaitNanos() / AHEAD_SHARE;
    this.view = new LeafView(directory, worker.backoff());
    this.pieces = new Pieces(1);
  }

  /**
   * Takes the latch of the structure before {@link #begin}, to join leaves below one node: shared,
   * or alone if the node itself is to go.
   *
   * @param leaf that is to be joined with a neighbour, latched
   * @return {@code false} if another change has it
   */
  boolean tryLatchToJoin(LeafView leaf) {
    shares = directory.tryShare();
    if (!shares) {
      return false;
    }
    directory.seek(leaf.low, leaf);
    if (mayStay(leaf.node, leaf.node.size() - 1)) {
      return true;
    }
    unlatchStructure();
    excludes = directory.tryExclude();
    return excludes;
  }

  /** Returns whether a node that has so many children is not joined with another. */
  private boolean mayStay(DirectoryNode node, int children) {
    return node != directory.root() && children >= childrenMin;
  }

  /** Returns whether a node is to be joined with another, as it has few children. */
  boolean joinsNode() {
    return excludes;
  }

  /** Gives the latch of the structure back, if it is held and {@link #begin} is not to come. */
  void unlatchStructure() {
    if (shares || excludes) {
      shares = false;
      excludes = false;
      directory.unlatch();
    }
  }

  /**
   * Returns whether the pool may have the change while memory does not: the word that publishes may
   * have been written, and the change is not published here.
   */
  boolean isUncertain() {
    return uncertain;
  }

  /**
   * Checks that no earlier change stopped half-way. If one did, its latches stay held for good.
   *
   * @throws StalledException if one did
   */
  void checkUsable() {
    if (uncertain) {
      throw new StalledException(
          "an earlier change of a leaf by this session stopped half-way: low=%s, computeServer=%s"
              .formatted(view.low, context.number));
    }
  }

  /**
   * Plans the change, and takes its latches. {@link #end} must follow. If the latch of the
   * structure is held, a node with few children is joined with a neighbour.
   *
   * @param leaf one that was merged
   * @param all leaves that were merged, latched, one beside the other below one node, in the order
   *     of their keys
   * @param leaves what comes in their place
   */
  void begin(LeafView leaf, List<LeafView> all, Pieces leaves) {
    view = leaf;
    merged = all;
    pieces = leaves;
    if (leaves.count == 1 && all.size() == 1 && !excludes) {
      latchNode();
      return;
    }
    if (!shares && !excludes) {
      share();
    }
    latchNode();
    if (shares && all.size() == 1 && !fits()) {
      unlatchNodes();
      unlatchStructure();
      exclude();
      latchNode();
    }
    plan();
  }

  /** Returns whether one node can take the place of the latched one. */
  private boolean fits() {
    return view.node != directory.root() && view.node.size() - 1 + pieces.count <= childrenMax;
  }

  private void share() {
    for (int attempt = 0; !directory.tryShare(); attempt++) {
      await(attempt);
    }
    shares = true;
  }

  /**
   * Waits for the latch of the structure alone: at first ahead of those that would share it. A
   * change that got stuck shares it for good, and others should not have to wait for that.
   */
  private void exclude() {
    excludes = tryExcludeAhead();
    for (int attempt = 0; !excludes; attempt++) {
      await(attempt);
      excludes = directory.tryExclude();
    }
  }

  private boolean tryExcludeAhead() {
    long start = worker.nanoTime();
    directory.startWait();
    try {
      boolean taken = directory.tryExclude();
      for (int attempt = 0; !taken && worker.nanoTime() - start < aheadNanos; attempt++) {
        await(attempt);
        taken = directory.tryExclude();
      }
      return taken;
    } finally {
      directory.endWait();
    }
  }

  private void latchNode() {
    for (int attempt = 0; ; attempt++) {
      directory.seek(view.low, view);
      if (view.node.tryLatch()) {
        latched.add(view.node);
        if (!view.node.isReplaced()) {
          return;
        }
        unlatchNodes();
      }
      await(attempt);
    }
  }

  private void await(int attempt) {
    context.pause(attempt, "a page stays latched", view.low);
  }

  private void unlatchNodes() {
    latched.forEach(DirectoryNode::unlatch);
    latched.clear();
  }

  // Planning: which nodes go, which come, and what one word replaces.

  private void plan() {
    collectPath();
    DirectoryNode node = view.node;
    int first = node.childOf(pieces.low[0]);
    int size = node.size() - merged.size() + pieces.count;
    long[] lows = new long[size];
    int[] leaves = new int[size];
    int to = 0;
    for (int i = 0; i < first; i++) {
      lows[to] = node.low(i);
      leaves[to++] = node.leaf(i);
    }
    takeEntries();
    for (int i = 0; i < pieces.count; i++) {
      lows[to] = pieces.low[i];
      leaves[to++] = pieces.entry[i];
    }
    for (int i = first + merged.size(); i < node.size(); i++) {
      lows[to] = node.low(i);
      leaves[to++] = node.leaf(i);
    }
    replace(path.size() - 1, new Children(lows, leaves, node.high()));
  }

  /** The children that a node, or several, are going to have. */
  private static final class Children {
    long[] lows;
    int[] leaves = new int[0];
    DirectoryNode[] nodes = new DirectoryNode[0];
    long high;

    Children(long[] lows, int[] leaves, long high) {
      this.lows = lows;
      this.leaves = leaves;
      this.high = high;
    }

    Children(long[] lows, DirectoryNode[] nodes, long high) {
      this.lows = lows;
      this.nodes = nodes;
      this.high = high;
    }

    int size() {
      return lows.length;
    }
  }

  private void collectPath() {
    path.clear();
    DirectoryNode node = directory.root();
    path.add(node);
    while (node.level() > 0) {
      node = node.node(node.childOf(view.low));
      path.add(node);
    }
    assert node == view.node : "low=" + view.low;
  }

  /** Replaces a node of the path by one or more with these children, and the path above it. */
  private void replace(int depth, Children children) {
    DirectoryNode node = path.get(depth);
    int level = node.level();
    before.add(node);
    if (depth == 0) {
      replaceRoot(level, children);
      return;
    }
    DirectoryNode parent = path.get(depth - 1);
    int child = parent.childOf(node.low());
    int neighbour = neighbourToAbsorb(parent, child, children);
    Children all =
        neighbour < 0 ? children : absorb(parent.node(neighbour), neighbour < child, children);
    List<DirectoryNode> nodes = divide(level, all);
    int first = neighbour < 0 ? child : Math.min(child, neighbour);
    int replaced = neighbour < 0 ? 1 : 2;
    if (nodes.size() == replaced && replaced == 1) {
      holder = parent;
      top = nodes.getFirst();
      return;
    }
    replace(depth - 1, withNodes(parent, first, replaced, nodes));
  }

  private static Children withNodes(
      DirectoryNode parent, int first, int replaced, List<DirectoryNode> nodes) {
    int size = parent.size() - replaced + nodes.size();
    long[] lows = new long[size];
    DirectoryNode[] children = new DirectoryNode[size];
    for (int i = 0; i < size; i++) {
      boolean isNew = i >= first && i < first + nodes.size();
      int old = i < first ? i : i - nodes.size() + replaced;
      children[i] = isNew ? nodes.get(i - first) : parent.node(old);
      lows[i] = children[i].low();
    }
    return new Children(lows, children, parent.high());
  }

  private void replaceRoot(int level, Children children) {
    holder = null;
    if (level > 0 && children.size() == 1) {
      top = collapsed(children.nodes[0]);
      return;
    }
    List<DirectoryNode> nodes = divide(level, children);
    for (int above = level + 1; nodes.size() > 1; above++) {
      DirectoryNode[] below = nodes.toArray(DirectoryNode[]::new);
      long[] lows = new long[below.length];
      for (int i = 0; i < below.length; i++) {
        lows[i] = below[i].low();
      }
      nodes = divide(above, new Children(lows, below, children.high));
    }
    top = nodes.getFirst();
  }

  /** Returns the highest node that has more than one child. */
  private DirectoryNode collapsed(DirectoryNode root) {
    DirectoryNode node = root;
    while (node.level() > 0 && node.size() == 1) {
      if (after.remove(node)) {
        unused.add(node.address());
      } else {
        before.add(node);
      }
      node = node.node(0);
    }
    return node;
  }

  /** Returns the place of a neighbour that has room for a node's few children, -1 if none has. */
  private int neighbourToAbsorb(DirectoryNode parent, int child, Children children) {
    if (shares || children.size() >= childrenMin) {
      return -1;
    }
    for (int neighbour = child - 1; neighbour <= child + 1; neighbour += 2) {
      if (neighbour >= 0 && neighbour < parent.size()) {
        DirectoryNode node = parent.node(neighbour);
        if (node.size() + children.size() <= childrenMax * JOINED_SHARE && latchAbsorbed(node)) {
          return neighbour;
        }
      }
    }
    return -1;
  }

  private boolean latchAbsorbed(DirectoryNode node) {
    if (node.level() > 0) {
      return true;
    }
    boolean taken = node.tryLatch();
    if (taken) {
      latched.add(node);
    }
    return taken;
  }

  private Children absorb(DirectoryNode node, boolean left, Children children) {
    before.add(node);
    int size = node.size() + children.size();
    long[] lows = new long[size];
    int[] leaves = new int[node.level() == 0 ? size : 0];
    DirectoryNode[] nodes = new DirectoryNode[node.level() == 0 ? 0 : size];
    int own = left ? node.size() : 0;
    int absorbed = left ? 0 : children.size();
    System.arraycopy(children.lows, 0, lows, own, children.size());
    for (int i = 0; i < node.size(); i++) {
      lows[absorbed + i] = node.low(i);
    }
    if (node.level() == 0) {
      System.arraycopy(children.leaves, 0, leaves, own, children.size());
      for (int i = 0; i < node.size(); i++) {
        leaves[absorbed + i] = node.leaf(i);
      }
    } else {
      System.arraycopy(children.nodes, 0, nodes, own, children.size());
      for (int i = 0; i < node.size(); i++) {
        nodes[absorbed + i] = node.node(i);
      }
    }
    long high = left ? children.high : node.high();
    return node.level() == 0 ? new Children(lows, leaves, high) : new Children(lows, nodes, high);
  }

  /** Makes nodes of equal size out of children, as few as can hold them. */
  private List<DirectoryNode> divide(int level, Children children) {
    int size = children.size();
    int parts = (size + childrenMax - 1) / childrenMax;
    List<DirectoryNode> nodes = new ArrayList<>(parts);
    for (int part = 0; part < parts; part++) {
      int from = (int) ((long) size * part / parts);
      int to = (int) ((long) size * (part + 1) / parts);
      long[] lows = Arrays.copyOfRange(children.lows, from, to);
      long high = to < size ? children.lows[to] - 1 : children.high;
      long address = context.space.allocatePage(worker, context.message);
      allocated.add(address);
      DirectoryNode node =
          level == 0
              ? DirectoryNode.ofLeaves(
                  address, lows, high, Arrays.copyOfRange(children.leaves, from, to))
              : DirectoryNode.ofNodes(
                  level, address, lows, high, Arrays.copyOfRange(children.nodes, from, to));
      nodes.add(node);
      after.add(node);
    }
    return nodes;
  }

  // Entries.

  private void takeEntries() {
    for (int i = 0; i < pieces.count; i++) {
      if (i < merged.size()) {
        pieces.entry[i] = merged.get(i).entry;
      } else {
        pieces.entry[i] = entries.takeLatched();
        taken++;
        entries.startMerge(pieces.entry[i], true);
      }
    }
  }

  // In the pool.

  /** Writes new pages, and then the word that makes them, or the new leaf, part of the tree. */
  void write() {
    if (top == null) {
      long pointer = LeafPointer.of(pieces.address[0], pieces.segments[0]);
      writeWord(view.node.address() + DirectoryPage.pointerPosition(view.child), pointer);
      return;
    }
    writePages();
    if (holder == null) {
      replaceRootWord(top.address());
    } else {
      int child = holder.childOf(top.low());
      long pointer = LeafPointer.of(top.address(), 0);
      writeWord(holder.address() + DirectoryPage.pointerPosition(child), pointer);
    }
  }

  private void writePages() {
    list.clear();
    for (DirectoryNode node : after) {
      long image = context.page(list.size());
      PageWriter.format(context, image, node, context.number, this::pointerOf);
      list.write(node.address(), image, DirectoryPage.BYTES);
      if (list.size() == OrcaContext.PAGES) {
        worker.scatter(list);
        list.clear();
      }
    }
    if (list.size() > 0) {
      worker.scatter(list);
    }
  }

  private long pointerOf(int entry) {
    for (int i = 0; i < pieces.count; i++) {
      if (pieces.entry[i] == entry) {
        return LeafPointer.of(pieces.address[i], pieces.segments[i]);
      }
    }
    return entries.pointer(entry);
  }

  private void writeWord(long address, long word) {
    Words.set(context.memory, context.values, word);
    publishing(() -> worker.write(address, context.values, Long.BYTES));
  }

  private void replaceRootWord(long address) {
    publishing(() -> context.root.replace(worker, address));
  }

  /** Repeats the step that publishes until it is done: no other session writes this word. */
  private void publishing(Runnable step) {
    try {
      Retry.untilDone(worker, () -> tryPublishing(step));
      uncertain = true;
    } catch (MemoryServerLostException | IllegalStateException e) {
      // The memory server is lost, or the fabric is closed: there is no more to say.
      throw e;
    } catch (RuntimeException | Error e) {
      if (Retry.isFenced(e)) {
        throw e;
      }
      throw new StalledException(
          "the change of a leaf stopped half-way, and keeps the leaf latched: low="
              + view.low
              + ", computeServer="
              + context.number
              + ", because="
              + e);
    }
  }

  private void tryPublishing(Runnable step) {
    try {
      step.run();
    } catch (MemoryServerLostException | FencedException e) {
      throw e;
    } catch (Throwable e) {
      uncertain = true;
      throw e;
    }
  }

  // In memory.

  /**
   * Publishes the change to the sessions of this compute server. The leaves that were merged are
   * latched and merging; so are all that come, until {@link #endPublish}.
   */
  void startPublish(LeafPacker packer, IntConsumer plan) {
    if (top == null) {
      pieces.entry[0] = view.entry;
    }
    for (int i = 0; i < pieces.count; i++) {
      entries.startPublish(pieces.entry[i]);
    }
    for (int i = pieces.count; i < merged.size(); i++) {
      entries.startPublish(merged.get(i).entry);
    }
    for (int i = 0; i < pieces.count; i++) {
      plan.accept(i);
      setEntry(i, packer);
    }
    if (top != null) {
      publishNodes(top);
    }
  }

  private void setEntry(int piece, LeafPacker packer) {
    int entry = pieces.entry[piece];
    entries.setPointer(entry, LeafPointer.of(pieces.address[piece], pieces.segments[piece]));
    worker.backoff().transition();
    entries.setStamp(entry, pieces.stamp[piece]);
    entries.setHeads(entry, packer.width(), packer.segments(), packer::head);
    entries.setRecords(entry, pieces.records[piece], packer.width(), pieces.generation);
  }

  private void publishNodes(DirectoryNode newTop) {
    directory.replace(holder, newTop);
    before.forEach(directory::drop);
    after.forEach(directory::add);
  }

  /** Ends publishing: unlatches the leaves, which have no delta now. */
  void endPublish() {
    for (int i = 0; i < pieces.count; i++) {
      entries.endPublish(pieces.entry[i]);
      entries.unlatch(pieces.entry[i], 0);
    }
    for (int i = pieces.count; i < merged.size(); i++) {
      int entry = merged.get(i).entry;
      entries.endPublish(entry);
      entries.unlatch(entry, 0);
      entries.free(entry);
    }
    uncertain = false;
    published = true;
    context.use.noteDirectory();
  }

  /**
   * Gives the latches back, and what the change does not need: old pages, or new ones. Not called
   * while it is {@linkplain #isUncertain uncertain} which are in use.
   */
  void end() {
    unlatchNodes();
    unlatchStructure();
    Failures failures = new Failures();
    if (published) {
      before.forEach(node -> failures.collect(() -> freePage(node.address())));
      unused.forEach(address -> failures.collect(() -> freePage(address)));
    } else {
      releaseEntries();
      allocated.forEach(address -> failures.collect(() -> freePage(address)));
    }
    before.clear();
    after.clear();
    unused.clear();
    allocated.clear();
    taken = 0;
    top = null;
    published = false;
    failures.rethrow();
  }

  private void releaseEntries() {
    for (int i = merged.size(); i < merged.size() + taken; i++) {
      held.unlatch(pieces.entry[i]);
      entries.free(pieces.entry[i]);
    }
  }

  private void freePage(long address) {
    context.space.freePage(worker, context.message, address);
  }
}
