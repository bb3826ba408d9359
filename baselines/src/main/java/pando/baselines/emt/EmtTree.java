package pando.baselines.emt;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.memory.Words;
import pando.index.pool.Catalogue;

/**
 * The tree of one memory server, as its processor sees it: the way down to a leaf, and to the entry
 * next to a key. The caller holds the tree's latch. Not thread-safe.
 */
class EmtTree {
  private static final int ALIGNMENT = 64;

  final MemorySegment dram;
  final int server;

  /** Offset of the header. */
  final long header;

  final EmtNode layout;

  /** Offset of the leaf that was found last. */
  private long leaf;

  /** Address of the node that was found damaged. */
  private long damaged;

  /**
   * Opens a tree.
   *
   * @param header offset of its header, which is whole
   */
  EmtTree(MemorySegment dram, int server, long header) {
    this.dram = dram;
    this.server = server;
    this.header = header;
    this.layout = new EmtNode(EmtHeader.nodeBytes(dram, header));
  }

  /** Called for each inner node on the way down, with the child that is next. Default: nothing. */
  void note(int level, long node, int rank) {}

  final int rootLevel() {
    return EmtHeader.rootLevel(get(EmtHeader.ROOT));
  }

  /** Returns the address of the node that was found damaged. */
  final long damaged() {
    return damaged;
  }

  final void setDamaged(long node) {
    damaged = addressOf(node);
  }

  final long get(int field) {
    return EmtHeader.get(dram, header, field);
  }

  final long addressOf(long node) {
    return GlobalAddress.of(server, node);
  }

  /** Returns whether a node of this memory server can be at an address. */
  final boolean isHere(long address) {
    return isHere(dram, server, address, layout.bytes());
  }

  /** Returns whether so many bytes at an address can be a node, or a header, of a memory server. */
  static boolean isHere(MemorySegment dram, int server, long address, int bytes) {
    long offset = GlobalAddress.offset(address);
    return GlobalAddress.server(address) == server
        && !GlobalAddress.isSwizzled(address)
        && !GlobalAddress.isOnChip(address)
        && offset % ALIGNMENT == 0
        && offset >= Fabric.CATALOGUE_BYTES
        && offset <= dram.byteSize() - bytes;
  }

  /** Returns whether there is a whole node at an address, with these fences. */
  final boolean isNode(long address, int level, long low, long high) {
    return isHere(address)
        && layout.isWhole(dram, GlobalAddress.offset(address), address, level, low, high);
  }

  /** Goes down to the leaf of a key; returns whether all nodes on the way are whole. */
  final boolean descend(long key) {
    long root = get(EmtHeader.ROOT);
    long address = EmtHeader.rootAddress(root);
    int level = EmtHeader.rootLevel(root);
    long low = get(EmtHeader.LOW);
    long high = get(EmtHeader.HIGH);
    while (level < Catalogue.LEVELS_MAX && low <= key && key <= high) {
      if (!isNode(address, level, low, high)) {
        break;
      }
      long node = GlobalAddress.offset(address);
      if (level == 0) {
        leaf = node;
        return true;
      }
      int rank = Math.max(EmtNode.floor(dram, node, key), 0);
      long childLow = EmtNode.key(dram, node, rank);
      long childHigh = EmtNode.childHigh(dram, node, rank);
      // Damaged keys would lead out of the tree's range, and a search round and round.
      if (childLow < low || childHigh > high) {
        break;
      }
      low = childLow;
      high = childHigh;
      note(level, node, rank);
      address = layout.value(dram, node, rank);
      level--;
    }
    damaged = address;
    return false;
  }

  /** Returns the leaf that was found last. */
  final long leaf() {
    return leaf;
  }

  /** Returns the rank of a key in the leaf of the last descent, -1 if it is not there. */
  final int find(long key) {
    int rank = EmtNode.floor(dram, leaf, key);
    return rank >= 0 && EmtNode.key(dram, leaf, rank) == key ? rank : -1;
  }

  /** Returns a key of the leaf that was found last. */
  final long key(int rank) {
    return EmtNode.key(dram, leaf, rank);
  }

  /** Returns a value of the leaf that was found last. */
  final long value(int rank) {
    return layout.value(dram, leaf, rank);
  }

  /** Replaces a value of the leaf that was found last. */
  final void setValue(int rank, long value) {
    layout.setValue(dram, leaf, rank, value);
  }

  /** Returns the greatest key of the leaf that was found last, or {@code down} its least. */
  final long fence(boolean down) {
    return down ? EmtNode.low(dram, leaf) : EmtNode.high(dram, leaf);
  }

  /**
   * Returns whether the leaf that was found last is the tree's last one, or {@code down} its first.
   */
  final boolean isAtEdge(boolean down) {
    long fence = fence(down);
    return fence == get(down ? EmtHeader.LOW : EmtHeader.HIGH)
        || fence == (down ? Long.MIN_VALUE : Long.MAX_VALUE);
  }

  /** Returns the key that is next to those of the leaf that was found last. Not at an edge. */
  final long beyond(boolean down) {
    return down ? fence(true) - 1 : fence(false) + 1;
  }

  /**
   * Copies entries of the leaf that was found last into the answer to a scan.
   *
   * @param from first key that is wanted
   * @param to last key that is wanted, lesser than {@code from} if the scan goes {@code down}
   * @param count entries that are in the answer already
   * @param most entries that it may have
   * @return entries that it has now
   */
  final int copy(long from, long to, boolean down, MemorySegment message, int count, int most) {
    int entries = EmtNode.count(dram, leaf);
    int copied = count;
    long next = from;
    for (int i = 0; i < entries && copied < most; i++) {
      int rank = down ? entries - 1 - i : i;
      long key = key(rank);
      if (down ? key <= next && key >= to : key >= next && key <= to) {
        long at = EmtMessage.LIST + (long) copied * EmtMessage.ENTRY_BYTES;
        Words.set(message, at, key);
        Words.set(message, at + Long.BYTES, value(rank));
        copied++;
        next = key;
      }
    }
    return copied;
  }

  /**
   * Goes to the leaf with the entry next to a key.
   *
   * @param down whether the entry with the greatest key at most {@code wanted} is looked for, or
   *     the one with the least key at least {@code wanted}
   * @return its rank, -1 if the tree has no such entry; undefined if a node is damaged, which
   *     {@link #damaged} says then
   */
  final int findNext(long wanted, boolean down) {
    damaged = GlobalAddress.NULL;
    long from = wanted;
    while (descend(from)) {
      int rank = EmtNode.floor(dram, leaf, from);
      if (!down && (rank < 0 || EmtNode.key(dram, leaf, rank) != from)) {
        rank++;
      }
      if (rank >= 0 && rank < EmtNode.count(dram, leaf)) {
        return rank;
      }
      if (isAtEdge(down)) {
        return -1;
      }
      from = beyond(down);
    }
    return -1;
  }
}
