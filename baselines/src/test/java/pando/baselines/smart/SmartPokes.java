package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.Pokes;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;

/** Reads and damages leaves and inner nodes of a radix tree. */
public final class SmartPokes implements Pokes {
  private static final int MESSAGE = 4_096;

  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final Catalogue catalogue;
  private final int nodeBytes;

  /** The leaves that were on paths: what is READ as nodes are all others. */
  private final List<Long> leaves = new ArrayList<>();

  /** Opens a pool. */
  public SmartPokes(Fabric fabric, SmartOptions options) {
    this.registered = fabric.register(MESSAGE + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = registered.segment();
    this.nodeBytes = options.nodeBytes();
    NodePlaces places = new NodePlaces(fabric, NodeLayout.BYTES_MAX);
    this.catalogue = new Catalogue(worker, MESSAGE, places, SmartServer.system(options));
  }

  @Override
  public long[] path(long key) {
    long path = KeyPath.of(key);
    List<Long> way = new ArrayList<>(List.of(Catalogue.rootAddress(catalogue.root())));
    while (!leaves.contains(way.getFirst())) {
      peek(way.getFirst());
      long header = NodeLayout.header(memory, 0);
      int capacity = NodeLayout.capacity(NodeLayout.type(header));
      int next = KeyPath.byteAt(path, NodeLayout.depth(header));
      long slot = NodeLayout.slot(memory, 0, NodeLayout.find(memory, 0, capacity, next));
      way.addFirst(Slot.address(slot));
      if (Slot.kind(slot) == Slot.LEAF) {
        leaves.add(way.getFirst());
      }
    }
    return way.stream().mapToLong(Long::longValue).toArray();
  }

  private int bytes(long address) {
    if (leaves.contains(address)) {
      return LeafLayout.BYTES;
    }
    worker.read(address, 0, NodeLayout.SLOTS);
    return NodeLayout.bytes(NodeLayout.type(NodeLayout.header(memory, 0)));
  }

  /** {@inheritDoc} Zeros follow a node of fewer bytes than the options say. */
  @Override
  public byte[] peek(long address) {
    int bytes = bytes(address);
    worker.read(address, 0, bytes);
    byte[] node = memory.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
    return Arrays.copyOf(node, Math.max(bytes, nodeBytes));
  }

  @Override
  public void poke(long address, byte[] bytes, boolean sealed) {
    int length = bytes(address);
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, length);
    if (sealed && leaves.contains(address)) {
      LeafLayout.set(
          memory,
          0,
          LeafLayout.key(memory, 0),
          LeafLayout.value(memory, 0),
          LeafLayout.state(memory, 0));
    }
    worker.write(address, 0, length);
  }

  /**
   * Writes of an update of a key only value and check, and releases the leaf as after a failure.
   */
  void failUpdate(long key, long value) {
    int owner = LeafLayout.owner(9, 1);
    long leaf = path(key)[0];
    peek(leaf);
    long before = LeafLayout.state(memory, 0);
    long after = LeafLayout.state(0, LeafLayout.LIVE, LeafLayout.counter(before) + 1);
    LeafLayout.set(memory, 0, key, value, after);
    Words.set(memory, LeafLayout.STATE, LeafLayout.with(before, owner, LeafLayout.LIVE));
    worker.write(leaf, 0, LeafLayout.BYTES);
    LeafLocks.release(worker, memory, 0, leaf, owner);
  }

  @Override
  public long low(long address) {
    peek(address);
    if (leaves.contains(address)) {
      return LeafLayout.key(memory, 0);
    }
    return KeyPath.key(NodeLayout.prefix(NodeLayout.header(memory, 0)));
  }

  @Override
  public long high(long address) {
    peek(address);
    if (leaves.contains(address)) {
      return LeafLayout.key(memory, 0);
    }
    long header = NodeLayout.header(memory, 0);
    return KeyPath.key(KeyPath.greatest(NodeLayout.prefix(header), NodeLayout.depth(header)));
  }

  @Override
  public int image() {
    return 0;
  }

  @Override
  public int slotAt(int index) {
    return (int) NodeLayout.offset(index);
  }

  @Override
  public void close() {
    worker.close();
    registered.close();
  }
}
