package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * All blocks, in the order of their ranges, in two levels of arrays. Readers take no lock: who adds
 * or removes a block puts a new array in the place of an old one. Thread-safe; never empty.
 */
final class BlockDirectory {
  private static final int NODE_ENTRIES = 128;

  private volatile BlockEntry[][] nodes;

  /** Creates a directory of one block, which has all keys. */
  BlockDirectory(BlockEntry first) {
    this.nodes = new BlockEntry[][] {{first}};
  }

  /** Returns the block whose range has a key, as far as the directory knows. */
  BlockEntry find(MemorySegment key) {
    long head = BlockEntry.head(key);
    BlockEntry[][] seen = nodes;
    BlockEntry[] node = seen[nodeOf(seen, key, head)];
    return node[Math.max(last(node, key, head), 0)];
  }

  /** Returns the last block. */
  BlockEntry last() {
    BlockEntry[][] seen = nodes;
    BlockEntry[] node = seen[seen.length - 1];
    return node[node.length - 1];
  }

  /** Returns the block before that of a range, {@code null} if there is none. */
  @Nullable BlockEntry before(MemorySegment low) {
    long head = BlockEntry.head(low);
    BlockEntry[][] seen = nodes;
    int number = nodeOf(seen, low, head);
    int place = last(seen[number], low, head);
    if (place >= 0 && seen[number][place].compareLow(low, head) == 0) {
      place--;
    }
    if (place >= 0) {
      return seen[number][place];
    }
    return number == 0 ? null : seen[number - 1][seen[number - 1].length - 1];
  }

  /** Returns the number of the last node that begins at or below a key, or 0. */
  private static int nodeOf(BlockEntry[][] seen, MemorySegment key, long head) {
    int from = 1;
    int to = seen.length;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (seen[middle][0].compareLow(key, head) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from - 1;
  }

  /** Returns the place of the last block that begins at or below a key, or -1. */
  private static int last(BlockEntry[] node, MemorySegment key, long head) {
    int from = 0;
    int to = node.length;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (node[middle].compareLow(key, head) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from - 1;
  }

  /** Adds a block, which begins where no other does. */
  synchronized void add(BlockEntry entry) {
    MemorySegment low = entry.low();
    long head = BlockEntry.head(low);
    int number = nodeOf(nodes, low, head);
    BlockEntry[] node = nodes[number];
    int place = last(node, low, head) + 1;
    BlockEntry[] more = Arrays.copyOf(node, node.length + 1);
    System.arraycopy(node, place, more, place + 1, node.length - place);
    more[place] = entry;
    if (more.length <= NODE_ENTRIES) {
      put(number, more);
      return;
    }
    // What ascends fills its nodes.
    boolean ascends = place == node.length && number == nodes.length - 1;
    int cut = ascends ? more.length - 1 : more.length / 2;
    BlockEntry[][] all = new BlockEntry[nodes.length + 1][];
    System.arraycopy(nodes, 0, all, 0, number);
    all[number] = Arrays.copyOf(more, cut);
    all[number + 1] = Arrays.copyOfRange(more, cut, more.length);
    System.arraycopy(nodes, number + 1, all, number + 2, nodes.length - number - 1);
    nodes = all;
  }

  /** Removes a block, which is not the first. */
  synchronized void remove(BlockEntry entry) {
    MemorySegment low = entry.low();
    long head = BlockEntry.head(low);
    int number = nodeOf(nodes, low, head);
    BlockEntry[] node = nodes[number];
    int place = last(node, low, head);
    if (node.length > 1) {
      BlockEntry[] fewer = Arrays.copyOf(node, node.length - 1);
      System.arraycopy(node, place + 1, fewer, place, fewer.length - place);
      put(number, fewer);
      return;
    }
    BlockEntry[][] all = Arrays.copyOf(nodes, nodes.length - 1);
    System.arraycopy(nodes, number + 1, all, number, all.length - number);
    nodes = all;
  }

  private void put(int number, BlockEntry[] node) {
    BlockEntry[][] all = nodes.clone();
    all[number] = node;
    nodes = all;
  }

  /** Returns all blocks in the order of their ranges. */
  BlockEntry[] all() {
    return Arrays.stream(nodes).flatMap(Arrays::stream).toArray(BlockEntry[]::new);
  }
}
