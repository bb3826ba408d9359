package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
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
      LeafLayout.PLACE_BYTES + (long) Descent.LEVELS_MAX * (NodeLayout.BYTES_MAX + 48);

  private static final long LEAF = 0;

  private final PoolChange change;
  private final Worker worker;
  private final MemorySegment memory;
  private final SmartServer server;
  private final List<Long> nodes = new ArrayList<>();
  private final List<Integer> types = new ArrayList<>();
  private final List<Long> leaves = new ArrayList<>();

  SmartReplaced(PoolChange change, SmartServer server) {
    this.change = change;
    this.worker = change.worker();
    this.memory = worker.memory();
    this.server = server;
  }

  private static long image(int level) {
    return LeafLayout.PLACE_BYTES + (long) level * (NodeLayout.BYTES_MAX + 48);
  }

  @Override
  public void check(long root) {
    checkNode(Catalogue.rootAddress(root), 0);
  }

  private void checkNode(long address, int level) {
    long image = image(level);
    worker.read(address, image, NodeLayout.SLOTS);
    long header = NodeLayout.header(memory, image);
    int type = NodeLayout.type(header);
    if (level == Descent.LEVELS_MAX - 1 || !NodeLayout.isLegal(header)) {
      throw new CorruptNodeException(address, "no node: header=0x" + Long.toHexString(header));
    }
    worker.read(address, image, NodeLayout.bytes(type));
    nodes.add(address);
    types.add(type);
    for (int i = 0; i < NodeLayout.capacity(type); i++) {
      long slot = NodeLayout.slot(memory, image, i);
      if (Slot.kind(slot) == Slot.NODE) {
        checkNode(Slot.address(slot), level + 1);
      } else if (Slot.kind(slot) == Slot.LEAF) {
        checkLeaf(Slot.address(slot));
      }
    }
  }

  private void checkLeaf(long address) {
    worker.read(address, LEAF, LeafLayout.BYTES);
    if (LeafLayout.isLive(memory, LEAF)) {
      throw new IllegalStateException(
          "the index is not empty: leaf=" + GlobalAddress.toString(address));
    }
    leaves.add(address);
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
