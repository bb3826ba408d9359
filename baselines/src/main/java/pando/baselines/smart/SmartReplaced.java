package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.host.Replaced;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/** A tree without entries that a bulk load replaces: its root, and nodes and dead leaves below. */
final class SmartReplaced implements Replaced {
  /** Local memory that it needs: a leaf, and a node for each level. */
  static final long LOCAL_BYTES =
      LeafLayout.PLACE_BYTES + (long) Descent.LEVELS_MAX * Reserve.LARGE_BYTES;

  private static final long LEAF = 0;

  private final PoolChange change;
  private final Worker worker;
  private final MemorySegment memory;
  private final SmartServer server;
  private final List<Long> nodes = new ArrayList<>();
  private final List<Integer> types = new ArrayList<>();
  private final List<Long> leaves = new ArrayList<>();
  private final Set<Long> reached = new HashSet<>();

  SmartReplaced(PoolChange change, SmartServer server) {
    this.change = change;
    this.worker = change.worker();
    this.memory = worker.memory();
    this.server = server;
  }

  private static long image(int level) {
    return LeafLayout.PLACE_BYTES + (long) level * Reserve.LARGE_BYTES;
  }

  @Override
  public void check(long root) {
    checkNode(Catalogue.rootAddress(root), 0, 0, 0);
  }

  /**
   * Checks a node and all below.
   *
   * @param prefix the bytes that the paths of its slot begin with
   * @param known number of these bytes: they grow, so that damaged nodes lead no further than
   *     others
   */
  private void checkNode(long address, int level, long prefix, int known) {
    long image = image(level);
    read(address, image, NodeLayout.SLOTS);
    long header = NodeLayout.header(memory, image);
    int type = NodeLayout.type(header);
    if (!NodeLayout.isBelow(header, prefix, known)) {
      throw new CorruptNodeException(address, "no node: header=0x" + Long.toHexString(header));
    }
    checkOnce(address);
    read(address, image, NodeLayout.bytes(type));
    nodes.add(address);
    types.add(type);
    int depth = NodeLayout.depth(header);
    for (int i = 0; i < NodeLayout.capacity(type); i++) {
      long slot = NodeLayout.slot(memory, image, i);
      if (Slot.kind(slot) == Slot.NODE) {
        long childPrefix = KeyPath.child(NodeLayout.prefix(header), depth, Slot.byteOf(slot));
        checkNode(Slot.address(slot), level + 1, childPrefix, depth + 1);
      } else if (Slot.kind(slot) == Slot.LEAF) {
        checkLeaf(Slot.address(slot));
      }
    }
  }

  private void checkLeaf(long address) {
    read(address, LEAF, LeafLayout.BYTES);
    if (LeafLayout.isLive(memory, LEAF)) {
      throw new IllegalStateException(
          "the index is not empty: leaf=" + GlobalAddress.toString(address));
    }
    checkOnce(address);
    leaves.add(address);
  }

  /** Checks that no place is freed twice. */
  private void checkOnce(long address) {
    if (!reached.add(address)) {
      throw new CorruptNodeException(address, "two slots lead to it");
    }
  }

  private void read(long address, long image, int bytes) {
    if (!server.places.fits(address, bytes)) {
      throw new CorruptNodeException(address, "a pointer out of the pool: bytes=" + bytes);
    }
    worker.read(address, image, bytes);
  }

  @Override
  public void free() {
    for (long leaf : leaves) {
      server.space.freeLeaf(worker, change.message(), leaf);
    }
    for (int i = 0; i < nodes.size(); i++) {
      server.space.freeNode(types.get(i), worker, change.message(), nodes.get(i));
    }
  }
}
