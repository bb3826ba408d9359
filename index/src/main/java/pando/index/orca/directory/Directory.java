package pando.index.orca.directory;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;

/**
 * The inner levels of one compute server's part of the index: a tree of {@link DirectoryNode}s, all
 * of it in local memory, and the entries of its leaves.
 *
 * <p>Searches take no lock. A merge that changes separators replaces nodes under {@link #tryLatch
 * the latch}; a search that reaches a leaf through a node that was replaced starts again.
 */
public final class Directory implements AutoCloseable {
  private final LeafEntries entries;
  private final AtomicBoolean latched = new AtomicBoolean();
  private volatile DirectoryNode root;
  private volatile long nodeBytes;

  /** Creates a directory without leaves, which must be {@linkplain #open opened}. */
  public Directory(Fabric fabric) {
    this.entries = new LeafEntries(fabric);
    this.root = DirectoryNode.ofLeaves(0, new long[] {Long.MIN_VALUE}, Long.MAX_VALUE, new int[1]);
  }

  /** Sets the root of a tree that no session uses yet. */
  public void open(DirectoryNode newRoot) {
    root = newRoot;
    nodeBytes = bytes(newRoot);
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
    return nodeBytes + entries.bytes();
  }

  /**
   * Finds the leaf of a key. Waits while the leaf is latched for a moment, or published.
   *
   * @param key one that the compute server owns
   * @throws pando.fabric.StalledException if the leaf stays latched
   */
  public void find(long key, LeafView view) {
    for (int attempt = 0; ; attempt++) {
      seek(key, view);
      if (view.copy()) {
        return;
      }
      view.await(attempt);
    }
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
    int child = node.childOf(key);
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
   * Takes the latch that changes of separators need, unless it is taken; returns whether it did.
   */
  public boolean tryLatch() {
    return latched.compareAndSet(false, true);
  }

  /** Gives the latch back. */
  public void unlatch() {
    latched.set(false);
  }

  /**
   * Replaces a child of a node, or the root. The caller holds the latch.
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

  /** Tells searches that a node was replaced. The caller holds the latch. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Under the latch.
  public void drop(DirectoryNode node) {
    node.markReplaced();
    nodeBytes -= node.bytes();
  }

  /** Counts a node that is new. The caller holds the latch. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Under the latch.
  public void add(DirectoryNode node) {
    nodeBytes += node.bytes();
  }

  @Override
  public void close() {
    entries.close();
  }
}
