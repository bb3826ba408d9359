package pando.index.orca.directory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;

/**
 * The inner levels of one compute server's part of the index: a tree of {@link DirectoryNode}s, all
 * of it in local memory, and the entries of its leaves.
 *
 * <p>Searches take no lock; one that reaches a leaf through a node that was replaced starts again.
 * A merge that changes separators replaces nodes under the latch of the structure: it {@linkplain
 * #tryShare shares} it if one node of level 0 takes the place of another, whose latch it holds, and
 * {@linkplain #tryExclude excludes} others if more changes.
 */
public final class Directory implements AutoCloseable {
  private static final int EXCLUSIVE = -1;

  private final LeafEntries entries;

  /** Number of changes that share the latch of the structure, or {@link #EXCLUSIVE}. */
  private final AtomicInteger latch = new AtomicInteger();

  /** Number of changes that wait for the latch alone; meanwhile no other comes to share it. */
  private final AtomicInteger waiting = new AtomicInteger();

  private final AtomicLong nodeBytes = new AtomicLong();
  private volatile DirectoryNode root;

  /** Creates a directory without leaves, which must be {@linkplain #open opened}. */
  public Directory(Fabric fabric) {
    this.entries = new LeafEntries(fabric);
    this.root = DirectoryNode.ofLeaves(0, new long[] {Long.MIN_VALUE}, Long.MAX_VALUE, new int[1]);
  }

  /** Sets the root of a tree that no session uses yet. */
  public void open(DirectoryNode newRoot) {
    root = newRoot;
    latch.set(0);
    nodeBytes.set(bytes(newRoot));
  }

  /** Replaces all nodes, while no session uses one. Entries stay as they are. */
  public void replaceAll(DirectoryNode newRoot) {
    markReplaced(root);
    open(newRoot);
  }

  private static void markReplaced(DirectoryNode node) {
    for (int child = 0; node.level() > 0 && child < node.size(); child++) {
      markReplaced(node.node(child));
    }
    node.markReplaced();
  }

  /** Visits the leaves in the order of their keys, while no session changes the directory. */
  public void forEachLeaf(LeafVisitor visitor) {
    forEachLeaf(root, visitor);
  }

  private static void forEachLeaf(DirectoryNode node, LeafVisitor visitor) {
    for (int child = 0; child < node.size(); child++) {
      if (node.level() > 0) {
        forEachLeaf(node.node(child), visitor);
      } else {
        visitor.visit(node.low(child), node.high(child), node.leaf(child));
      }
    }
  }

  /** Returns the addresses of the pages of all nodes. */
  public List<Long> pages() {
    List<Long> pages = new ArrayList<>();
    collectPages(root, pages);
    return pages;
  }

  private static void collectPages(DirectoryNode node, List<Long> pages) {
    pages.add(node.address());
    for (int child = 0; node.level() > 0 && child < node.size(); child++) {
      collectPages(node.node(child), pages);
    }
  }

  /** Visits leaves. */
  @FunctionalInterface
  public interface LeafVisitor {
    /** Gets the fences of a leaf, and its entry. */
    void visit(long low, long high, int entry);
  }

  private static long bytes(DirectoryNode node) {
    long bytes = node.bytes();
    for (int child = 0; node.level() > 0 && child < node.size(); child++) {
      bytes += bytes(node.node(child));
    }
    return bytes;
  }

  /** Returns the entries of the leaves. */
  public LeafEntries entries() {
    return entries;
  }

  /** Returns the root. */
  public DirectoryNode root() {
    return root;
  }

  /** Returns about how many bytes of local memory it takes. */
  public long bytes() {
    return nodeBytes.get() + entries.bytes();
  }

  /**
   * Finds the leaf of a key. Waits while the leaf is latched for a moment, or published.
   *
   * @param key one that the compute server owns
   * @throws pando.fabric.StalledException if the leaf stays latched
   */
  public void find(long key, LeafView view) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      seek(key, view);
      if (view.copy()) {
        return;
      }
      start = view.await(attempt, start);
    }
  }

  /**
   * Finds the leaf of a key as {@link #find}, but looks first beside a leaf that was found before.
   *
   * @param before may be out of date by now
   * @param key one of that leaf, or the next one to it
   * @param down whether the key is the next one below the leaf, not above it
   */
  public void findBeside(LeafView before, long key, boolean down, LeafView view) {
    int child = before.child + (down ? -1 : 1);
    if (child >= 0 && child < before.node.size()) {
      look(before.node, child, view);
      // If the node was replaced, the copy is refused.
      if ((down ? view.high : view.low) == key && view.copy()) {
        return;
      }
    }
    find(key, view);
  }

  /** Finds the entry of a key's leaf, whatever its state; does not wait. */
  public int entryOf(long key) {
    while (true) {
      DirectoryNode node = bottom(key);
      int entry = node.leaf(node.childOf(key));
      if (!node.isReplaced()) {
        return entry;
      }
    }
  }

  /** Finds the entry of a key's leaf and its fences, whatever its state; does not wait. */
  public void seek(long key, LeafView view) {
    DirectoryNode node = bottom(key);
    look(node, node.childOf(key), view);
  }

  private static void look(DirectoryNode node, int child, LeafView view) {
    view.node = node;
    view.child = child;
    view.entry = node.leaf(child);
    view.low = node.low(child);
    view.high = node.high(child);
  }

  private DirectoryNode bottom(long key) {
    DirectoryNode node = root;
    while (node.level() > 0) {
      node = node.node(node.childOf(key));
    }
    return node;
  }

  // Changes, by merges.

  /**
   * Takes the latch of the structure with others, unless a change has it alone or waits for that.
   */
  public boolean tryShare() {
    int sharing = latch.get();
    return waiting.get() == 0 && sharing != EXCLUSIVE && latch.compareAndSet(sharing, sharing + 1);
  }

  /** Takes the latch of the structure alone, unless a change has it. */
  public boolean tryExclude() {
    return latch.compareAndSet(0, EXCLUSIVE);
  }

  /** Keeps other changes from coming to share the latch, until {@link #endWait}. */
  public void startWait() {
    waiting.incrementAndGet();
  }

  /** Ends what {@link #startWait} began. */
  public void endWait() {
    waiting.decrementAndGet();
  }

  /** Gives the latch of the structure back. */
  public void unlatch() {
    if (!latch.compareAndSet(EXCLUSIVE, 0)) {
      latch.decrementAndGet();
    }
  }

  /**
   * Replaces a child of a node, or the root. The caller has the latch, alone if it replaces the
   * root.
   *
   * @param holder whose child is replaced by one that covers the same keys; {@code null} to replace
   *     the root
   */
  public void replace(@Nullable DirectoryNode holder, DirectoryNode node) {
    if (holder == null) {
      root = node;
    } else {
      holder.setNode(holder.childOf(node.low()), node);
    }
  }

  /** Marks a node, so that searches see that it was replaced. The caller has the latch. */
  public void drop(DirectoryNode node) {
    node.markReplaced();
    nodeBytes.addAndGet(-node.bytes());
  }

  /** Counts a node that is new. The caller has the latch. */
  public void add(DirectoryNode node) {
    nodeBytes.addAndGet(node.bytes());
  }

  @Override
  public void close() {
    entries.close();
  }
}
