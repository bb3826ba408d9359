package pando.index.dex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.dex.cache.CacheContext;
import pando.index.dex.node.NodeLayout;
import pando.index.pool.Catalogue;

/**
 * Splits full shared nodes, from the root down (DEX section 7), adds a root above the root, and
 * removes a root with one child. Changes only the pool: cached copies are old until a refresh.
 *
 * <p>Belongs to one worker of one compute server.
 */
final class SharedSplits {
  /*
   * A descent with lock coupling on remote locks: a node is locked below its locked parent, which
   * has room, and the parent is unlocked once the node has room as well, or is split. While the
   * parent is locked, no child is added or removed.
   *
   * A split writes the sibling, the parent, the node, as DexSplits does, and unlocks the parent
   * last: so if this compute server ends meanwhile, its locked node is a child of a node that it
   * has locked, too, where Burial finds it.
   *
   * The root pointer is changed by CAS under the locks of the old and the new root.
   */

  private static final int ATTEMPTS_MAX = 10_000;

  private static final int PARENT = 0;
  private static final int NODE = 1;
  private static final int SIBLING = 2;
  private static final int ROOT = 3;

  private final DexServer server;
  private final CacheContext context;
  private final Worker worker;
  private final NodeLayout layout;
  private final MemorySegment memory;
  private final Catalogue catalogue;
  private final SharedNodes shared;

  SharedSplits(DexServer server, CacheContext context, SharedNodes shared) {
    this.server = server;
    this.context = context;
    this.worker = context.worker();
    this.layout = server.layout;
    this.memory = server.cache.memory();
    this.catalogue =
        new Catalogue(
            worker, context.message(), server.guard.places(), server.options.systemNumber());
    this.shared = shared;
  }

  /** Splits every full shared node on the path to a key. The caller must hold no lock. */
  void splitFull(long key) {
    try {
      for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        if (splitFirstFull(key, attempt)) {
          return;
        }
      }
    } catch (Throwable e) {
      shared.abandon(e);
      throw e;
    }
    throw new StalledException(
        "the shared nodes above a key stay full: key=%s, attempts=%s"
            .formatted(layout.text(memory, key), ATTEMPTS_MAX));
  }

  /**
   * Splits the first full shared node on the path, if any; returns {@code true} if none is full.
   */
  private boolean splitFirstFull(long key, int attempt) {
    long root = catalogue.root();
    long address = Catalogue.rootAddress(root);
    int level = Catalogue.rootLevel(root);
    long parent = context.scratchNode(PARENT);
    shared.lock(address);
    if (catalogue.root() != root) {
      shared.unlock(address);
      worker.backoff().pause(attempt);
      return false;
    }
    readRoot(address, parent, level);
    if (NodeLayout.count(memory, parent) == layout.capacity()) {
      splitRoot(root, parent);
      return false;
    }
    return splitBelow(parent, level, key);
  }

  private void readRoot(long address, long target, int level) {
    shared.readLocked(address, target, level, least(), greatest());
  }

  private long least() {
    return layout.least(memory, Long.MIN_VALUE, context.key(KeyPlaces.LOCKED_LOW));
  }

  private long greatest() {
    return layout.greatest(memory, Long.MAX_VALUE, context.key(KeyPlaces.LOCKED_HIGH));
  }

  /** Descends from a locked node that is not full. */
  private boolean splitBelow(long top, int topLevel, long key) {
    long parent = top;
    long node = context.scratchNode(NODE);
    for (int level = topLevel - 1; level > 0; level--) {
      int index = layout.floor(memory, parent, key);
      long low = layout.key(memory, parent, index);
      long high = layout.highOfChild(memory, parent, index, context.key(KeyPlaces.LOCKED_HIGH));
      long parentAddress = NodeLayout.address(memory, parent);
      if (!server.isShared(level, low, high)) {
        shared.unlock(parentAddress);
        return true;
      }
      long address = layout.slot(memory, parent, index);
      shared.lock(address);
      shared.readLocked(address, node, level, low, high);
      if (NodeLayout.count(memory, node) == layout.capacity()) {
        splitNode(parent, node);
        return false;
      }
      shared.unlock(parentAddress);
      long next = parent;
      parent = node;
      node = next;
    }
    shared.unlock(NodeLayout.address(memory, parent));
    return true;
  }

  /** Splits a full node below a parent with room; both are locked, and are unlocked afterwards. */
  private void splitNode(long parent, long node) {
    long sibling = context.scratchNode(SIBLING);
    long address = NodeLayout.address(memory, node);
    long siblingAddress = server.allocate(context, address);
    layout.split(memory, node, sibling, siblingAddress);
    writeOrFree(sibling);
    long low = layout.low(memory, sibling);
    int index = layout.floor(memory, parent, low);
    layout.insert(memory, parent, index + 1, low, siblingAddress);
    layout.seal(memory, parent);
    layout.seal(memory, node);
    shared.finish(() -> layout.writeImage(worker, parent));
    shared.writeAndUnlock(address, node);
    shared.unlock(NodeLayout.address(memory, parent));
  }

  /**
   * Splits the full and locked root, makes a new root above both halves, and unlocks the old one.
   */
  private void splitRoot(long rootPointer, long root) {
    long sibling = context.scratchNode(SIBLING);
    long top = context.scratchNode(ROOT);
    long address = Catalogue.rootAddress(rootPointer);
    int level = Catalogue.rootLevel(rootPointer);
    long siblingAddress = server.allocate(context, address);
    long topAddress = GlobalAddress.NULL;
    try {
      topAddress = server.allocate(context, address);
      layout.split(memory, root, sibling, siblingAddress);
      write(sibling);
      layout.format(memory, top, topAddress, level + 1, least(), greatest());
      layout.append(memory, top, least(), address);
      layout.append(memory, top, layout.low(memory, sibling), siblingAddress);
      write(top);
      shared.lock(topAddress);
    } catch (Throwable e) {
      server.free(context, siblingAddress);
      if (topAddress != GlobalAddress.NULL) {
        server.free(context, topAddress);
      }
      throw e;
    }
    if (!replaceRoot(rootPointer, topAddress, level + 1)) {
      throw new CorruptNodeException(
          address, "another node became the root while this one was locked");
    }
    layout.seal(memory, root);
    shared.writeAndUnlock(address, root);
    shared.unlock(topAddress);
  }

  private void writeOrFree(long image) {
    try {
      write(image);
    } catch (Throwable e) {
      server.free(context, NodeLayout.address(memory, image));
      throw e;
    }
  }

  /** Replaces the root by its only child, as long as it has only one. */
  void collapseRoot() {
    try {
      collapse();
    } catch (Throwable e) {
      shared.abandon(e);
      throw e;
    }
  }

  private void collapse() {
    for (int level = 0; level < NodeLayout.LEVELS_MAX; level++) {
      long root = catalogue.root();
      long address = Catalogue.rootAddress(root);
      long node = context.scratchNode(PARENT);
      if (Catalogue.rootLevel(root) <= 1) {
        return;
      }
      shared.lock(address);
      boolean collapses = catalogue.root() == root && replaceByOnlyChild(root, node);
      if (collapses) {
        erase(address);
      }
      shared.unlock(address);
      if (!collapses) {
        return;
      }
      server.free(context, address);
    }
  }

  private boolean replaceByOnlyChild(long root, long node) {
    int level = Catalogue.rootLevel(root);
    readRoot(Catalogue.rootAddress(root), node, level);
    return NodeLayout.count(memory, node) == 1
        && replaceRoot(root, layout.slot(memory, node, 0), level - 1);
  }

  /** Replaces a locked root. */
  private boolean replaceRoot(long before, long address, int level) {
    try {
      return catalogue.replaceRoot(before, address, level);
    } catch (PandoException | Error _) {
      // Only the holder of the old root's lock may replace it: if the root is another, this
      // worker's CAS took effect.
      shared.finish(() -> {
        if (catalogue.root() == before) {
          catalogue.replaceRoot(before, address, level);
        }
      });
      return true;
    }
  }

  /**
   * Overwrites a node before it is unlocked and freed, so that a worker that knows it from an old
   * copy detects that it is gone.
   */
  private void erase(long address) {
    long image = context.scratchNode(NODE);
    layout.format(memory, image, address, NodeLayout.LEVELS_MAX, least(), least());
    shared.finish(() -> write(image));
  }

  private void write(long image) {
    layout.seal(memory, image);
    layout.writeImage(worker, image);
  }
}
