package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;

/**
 * The blocks of the keys that this process serves, in the order of their ranges, in two levels of
 * arrays. Readers take no lock: a session that adds or removes a block puts a new array in the
 * place of an old one. Thread-safe.
 */
final class BlockDirectory {
  private static final int NODE_ENTRIES = 32;

  /** Bytes of a node, its first key and its array, without what is in these. */
  private static final int NODE_BYTES = 24 + 40 + 2 * 16;

  private static final int REFERENCE_BYTES = 4;
  private static final BlockEntry[] NO_ENTRIES = {};

  private volatile Root root = new Root();
  private volatile long changes;
  private volatile ServedKeys served = ServedKeys.NONE;

  /** Returns the keys whose blocks are here. */
  ServedKeys served() {
    return served;
  }

  /**
   * Adds the blocks of keys that are served from now on, which lie beside those before.
   *
   * @param all the keys that are served then
   */
  synchronized void extend(List<BlockEntry> entries, ServedKeys all) {
    List<BlockEntry> joined = new ArrayList<>(List.of(all()));
    boolean isBelow = served.isNone() || !all.beginsWith(served);
    joined.addAll(isBelow ? 0 : joined.size(), entries);
    publish(nodes(joined));
    served = all;
  }

  /**
   * Drops the blocks of keys that are served no more, and returns them. No operation runs
   * meanwhile.
   *
   * @param some the keys that are still served
   */
  synchronized List<BlockEntry> keep(ServedKeys some) {
    List<BlockEntry> kept = new ArrayList<>();
    List<BlockEntry> dropped = new ArrayList<>();
    for (BlockEntry entry : all()) {
      (some.has(entry.low()) ? kept : dropped).add(entry);
    }
    served = some;
    publish(nodes(kept));
    return dropped;
  }

  private static Root nodes(List<BlockEntry> entries) {
    Node[] all = new Node[Math.ceilDiv(entries.size(), NODE_ENTRIES)];
    for (int i = 0; i < all.length; i++) {
      int end = Math.min((i + 1) * NODE_ENTRIES, entries.size());
      all[i] = new Node(entries.subList(i * NODE_ENTRIES, end).toArray(BlockEntry[]::new));
    }
    return new Root(all);
  }

  /** Some blocks in a row. */
  private static final class Node {
    private final MemorySegment low;
    private final LowKeys lows;
    private final BlockEntry[] entries;

    Node(BlockEntry[] entries) {
      this.low = MemorySegment.ofArray(entries[0].low().toArray(JAVA_BYTE));
      this.lows = new LowKeys(entries.length, i -> entries[i].low());
      this.entries = entries;
    }

    /** Returns the place of the last block that begins at or below a key, or -1. */
    int last(MemorySegment key) {
      int candidate = lows.candidate(key);
      return lows.last(candidate, entries[candidate].agreesLow(key));
    }

    long localBytes() {
      long bytes = NODE_BYTES + Block.padded(low.byteSize()) + lows.localBytes();
      return bytes + (long) entries.length * REFERENCE_BYTES;
    }
  }

  /**
   * All nodes. The keys with which they begin have a common prefix; the 8 bytes behind it are in
   * one array, and a search looks at little else. The first one begins with the empty key, as a
   * rule, which has nothing in common with others, so it does not count for the prefix.
   */
  private static final class Root {
    private final Node[] nodes;
    private final int prefixBytes;
    private final long[] heads;

    Root(Node... nodes) {
      this.nodes = nodes;
      this.prefixBytes = nodes.length < 2 ? 0 : KeyOrder.commonPrefix(nodes[1].low, last().low);
      this.heads = new long[nodes.length];
      for (int i = 0; i < heads.length; i++) {
        heads[i] = head(nodes[i].low);
      }
    }

    /** As another one, but for a node that begins with the same key. */
    private Root(Root other, Node... nodes) {
      this.nodes = nodes;
      this.prefixBytes = other.prefixBytes;
      this.heads = other.heads;
    }

    private Node last() {
      return nodes[nodes.length - 1];
    }

    private long head(MemorySegment key) {
      return KeyOrder.head(key, prefixBytes, key.byteSize() - prefixBytes);
    }

    /**
     * Returns the number of the last node that begins at or below a key, or 0; without a key, that
     * of the last node.
     */
    int last(@Nullable MemorySegment key) {
      if (key == null) {
        return nodes.length - 1;
      }
      if (prefixBytes > 0 && !beginsAlike(key)) {
        return KeyOrder.compare(nodes[1].low, key) > 0 ? 0 : nodes.length - 1;
      }
      long keyHead = head(key);
      int from = 1;
      int to = nodes.length;
      while (from < to) {
        int middle = (from + to) >>> 1;
        int compared = Long.compareUnsigned(heads[middle], keyHead);
        if (compared == 0) {
          compared = KeyOrder.compare(nodes[middle].low, key);
        }
        if (compared <= 0) {
          from = middle + 1;
        } else {
          to = middle;
        }
      }
      return from - 1;
    }

    private boolean beginsAlike(MemorySegment key) {
      return key.byteSize() >= prefixBytes
          && MemorySegment.mismatch(nodes[1].low, 0, prefixBytes, key, 0, prefixBytes) < 0;
    }

    Node nodeOf(MemorySegment key) {
      return nodes[last(key)];
    }

    /** Returns these nodes, one of them replaced. */
    Root with(int number, Node node) {
      Node[] all = nodes.clone();
      all[number] = node;
      boolean beginsAlike = nodes[number].low.mismatch(node.low) < 0;
      return beginsAlike ? new Root(this, all) : new Root(all);
    }
  }

  /**
   * Returns the block whose range has a key, as far as the directory knows.
   *
   * @param key that is served
   */
  BlockEntry find(MemorySegment key) {
    Node node = root.nodeOf(key);
    return node.entries[Math.max(node.last(key), 0)];
  }

  /**
   * Returns how often blocks were added and removed. If it is the same before {@link #find} and
   * after a look at the block's state, that block had the key when it had that state.
   */
  long changes() {
    return changes;
  }

  /** Returns the last block, if any key is served. */
  BlockEntry last() {
    Node[] seen = root.nodes;
    BlockEntry[] entries = seen[seen.length - 1].entries;
    return entries[entries.length - 1];
  }

  /** Returns the last block that begins before a key, {@code null} if there is none. */
  @Nullable BlockEntry before(MemorySegment low) {
    Root seen = root;
    if (seen.nodes.length == 0) {
      return null;
    }
    int number = seen.last(low);
    Node node = seen.nodes[number];
    int place = node.last(low);
    if (place >= 0 && node.entries[place].compareLow(low) == 0) {
      place--;
    }
    if (place >= 0) {
      return node.entries[place];
    }
    if (number == 0) {
      return null;
    }
    BlockEntry[] entries = seen.nodes[number - 1].entries;
    return entries[entries.length - 1];
  }

  /**
   * Adds a block, which begins where no other does.
   *
   * @param then what to do as soon as it is found here; not done if this throws, and nothing is
   *     added then
   */
  synchronized void add(BlockEntry entry, Runnable then) {
    publish(with(entry));
    then.run();
  }

  private Root with(BlockEntry entry) {
    MemorySegment low = entry.low();
    int number = root.last(low);
    Node[] nodes = root.nodes;
    BlockEntry[] entries = nodes[number].entries;
    int place = nodes[number].last(low) + 1;
    BlockEntry[] more = Arrays.copyOf(entries, entries.length + 1);
    System.arraycopy(entries, place, more, place + 1, entries.length - place);
    more[place] = entry;
    if (more.length <= NODE_ENTRIES) {
      return root.with(number, new Node(more));
    }
    // What ascends fills its nodes.
    boolean ascends = place == entries.length && number == nodes.length - 1;
    int cut = ascends ? more.length - 1 : more.length / 2;
    Node[] all = new Node[nodes.length + 1];
    System.arraycopy(nodes, 0, all, 0, number);
    all[number] = new Node(Arrays.copyOf(more, cut));
    all[number + 1] = new Node(Arrays.copyOfRange(more, cut, more.length));
    System.arraycopy(nodes, number + 1, all, number + 2, nodes.length - number - 1);
    return new Root(all);
  }

  /**
   * Removes a block, which is not the first.
   *
   * @param before what to do right before it is found here no more; not done if this throws, and
   *     nothing is removed then
   */
  synchronized void remove(BlockEntry entry, Runnable before) {
    Root without = without(entry);
    before.run();
    publish(without);
  }

  private Root without(BlockEntry entry) {
    MemorySegment low = entry.low();
    int number = root.last(low);
    Node[] nodes = root.nodes;
    BlockEntry[] entries = nodes[number].entries;
    int place = nodes[number].last(low);
    if (entries.length > 1) {
      BlockEntry[] fewer = Arrays.copyOf(entries, entries.length - 1);
      System.arraycopy(entries, place + 1, fewer, place, fewer.length - place);
      return root.with(number, new Node(fewer));
    }
    Node[] all = Arrays.copyOf(nodes, nodes.length - 1);
    System.arraycopy(nodes, number + 1, all, number, all.length - number);
    return new Root(all);
  }

  /** Replaces the only block by others, which have all of its keys. */
  synchronized void replaceAll(List<BlockEntry> entries) {
    publish(nodes(entries));
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Writers hold this object's monitor.
  private void publish(Root next) {
    root = next;
    changes++;
  }

  /** Returns the number of arrays that the blocks are in. */
  int nodes() {
    return root.nodes.length;
  }

  /** Returns some blocks in a row, by a number of which any will do; they must not be changed. */
  BlockEntry[] entries(int number) {
    Node[] seen = root.nodes;
    return seen.length == 0 ? NO_ENTRIES : seen[Math.floorMod(number, seen.length)].entries;
  }

  /**
   * Returns the number of arrays that have the blocks of a range.
   *
   * @param to the first key behind the range, {@code null} if it has no end
   */
  int nodes(MemorySegment from, @Nullable MemorySegment to) {
    Root seen = root;
    return seen.last(to) - seen.last(from) + 1;
  }

  /**
   * Returns those blocks of one of these arrays that are in the range, by a number of which any
   * will do.
   */
  List<BlockEntry> entries(int number, MemorySegment from, @Nullable MemorySegment to) {
    Root seen = root;
    int first = seen.last(from);
    int last = seen.last(to);
    int drawn = first + Math.floorMod(number, last - first + 1);
    Node node = seen.nodes[drawn];
    int low = drawn == first ? Math.max(node.last(from), 0) : 0;
    int high = drawn == last && to != null ? Math.max(node.last(to), 0) : node.entries.length - 1;
    return Arrays.asList(node.entries).subList(low, high + 1);
  }

  /** Returns all blocks in the order of their ranges. */
  BlockEntry[] all() {
    return Arrays.stream(root.nodes)
        .flatMap(node -> Arrays.stream(node.entries))
        .toArray(BlockEntry[]::new);
  }

  /** Returns the number of blocks. */
  int size() {
    int size = 0;
    for (Node node : root.nodes) {
      size += node.entries.length;
    }
    return size;
  }

  /** Returns the number of changes of all blocks that wait. */
  long changesWaiting() {
    long changes = 0;
    for (Node node : root.nodes) {
      for (BlockEntry entry : node.entries) {
        changes += entry.state().delta().count();
      }
    }
    return changes;
  }

  /** Returns the bytes of local memory that the directory takes, in a heap of less than 32 GB. */
  long localBytes() {
    long bytes = 0;
    for (Node node : root.nodes) {
      bytes += node.localBytes() + REFERENCE_BYTES + Long.BYTES;
      for (BlockEntry entry : node.entries) {
        bytes += entry.localBytes();
      }
    }
    return bytes;
  }
}
