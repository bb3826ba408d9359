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
  private static final int NODE_ENTRIES = 256;
  private static final int NODE_OBJECT_BYTES = 24 + 12 + 40 + 3 * 16;
  private static final int ENTRY_BYTES = Long.BYTES + 4;
  private static final BlockEntry[] NO_ENTRIES = {};

  private volatile Node[] nodes = new Node[0];
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

  private static Node[] nodes(List<BlockEntry> entries) {
    Node[] all = new Node[Math.ceilDiv(entries.size(), NODE_ENTRIES)];
    for (int i = 0; i < all.length; i++) {
      int end = Math.min((i + 1) * NODE_ENTRIES, entries.size());
      all[i] = new Node(entries.subList(i * NODE_ENTRIES, end).toArray(BlockEntry[]::new));
    }
    return all;
  }

  /**
   * Some blocks in a row. The keys with which they begin have a common prefix; the 8 bytes behind
   * it are in one array, and a search looks at little else. The first block of all begins with the
   * empty key, which has nothing in common with others, so it does not count for the prefix.
   */
  private static final class Node {
    private final MemorySegment low;
    private final int counted;
    private final MemorySegment countedLow;
    private final int prefixBytes;
    private final long[] heads;
    private final BlockEntry[] entries;

    Node(BlockEntry[] entries) {
      MemorySegment first = entries[0].low();
      this.low = MemorySegment.ofArray(first.toArray(JAVA_BYTE));
      this.counted = first.byteSize() == 0 && entries.length > 1 ? 1 : 0;
      this.countedLow =
          counted == 0 ? low : MemorySegment.ofArray(entries[counted].low().toArray(JAVA_BYTE));
      this.prefixBytes = KeyOrder.commonPrefix(countedLow, entries[entries.length - 1].low());
      this.heads = new long[entries.length];
      for (int i = 0; i < heads.length; i++) {
        heads[i] = head(entries[i].low());
      }
      this.entries = entries;
    }

    private long head(MemorySegment key) {
      return KeyOrder.head(key, prefixBytes, key.byteSize() - prefixBytes);
    }

    private int compareLow(MemorySegment key) {
      return KeyOrder.compare(low, key);
    }

    /** Returns the place of the last block that begins at or below a key, or -1. */
    int last(MemorySegment key) {
      if (prefixBytes > 0 && !beginsAlike(key)) {
        return (KeyOrder.compare(countedLow, key) > 0 ? counted : entries.length) - 1;
      }
      long keyHead = head(key);
      int from = 0;
      int to = heads.length;
      while (from < to) {
        int middle = (from + to) >>> 1;
        int compared = Long.compareUnsigned(heads[middle], keyHead);
        if (compared == 0) {
          compared = entries[middle].compareLow(key);
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
          && MemorySegment.mismatch(countedLow, 0, prefixBytes, key, 0, prefixBytes) < 0;
    }
  }

  /**
   * Returns the block whose range has a key, as far as the directory knows.
   *
   * @param key that is served
   */
  BlockEntry find(MemorySegment key) {
    Node[] seen = nodes;
    Node node = seen[nodeOf(seen, key)];
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
    Node[] seen = nodes;
    BlockEntry[] entries = seen[seen.length - 1].entries;
    return entries[entries.length - 1];
  }

  /** Returns the last block that begins before a key, {@code null} if there is none. */
  @Nullable BlockEntry before(MemorySegment low) {
    Node[] seen = nodes;
    if (seen.length == 0) {
      return null;
    }
    int number = nodeOf(seen, low);
    Node node = seen[number];
    int place = node.last(low);
    if (place >= 0 && node.entries[place].compareLow(low) == 0) {
      place--;
    }
    if (place >= 0) {
      return node.entries[place];
    }
    return number == 0 ? null : seen[number - 1].entries[seen[number - 1].entries.length - 1];
  }

  /**
   * Returns the number of the last node that begins at or below a key, or 0; without a key, that of
   * the last node.
   */
  private static int nodeOf(Node[] seen, @Nullable MemorySegment key) {
    if (key == null) {
      return seen.length - 1;
    }
    int from = 1;
    int to = seen.length;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (seen[middle].compareLow(key) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from - 1;
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

  private Node[] with(BlockEntry entry) {
    MemorySegment low = entry.low();
    int number = nodeOf(nodes, low);
    BlockEntry[] entries = nodes[number].entries;
    int place = nodes[number].last(low) + 1;
    BlockEntry[] more = Arrays.copyOf(entries, entries.length + 1);
    System.arraycopy(entries, place, more, place + 1, entries.length - place);
    more[place] = entry;
    if (more.length <= NODE_ENTRIES) {
      return with(number, new Node(more));
    }
    // What ascends fills its nodes.
    boolean ascends = place == entries.length && number == nodes.length - 1;
    int cut = ascends ? more.length - 1 : more.length / 2;
    Node[] all = new Node[nodes.length + 1];
    System.arraycopy(nodes, 0, all, 0, number);
    all[number] = new Node(Arrays.copyOf(more, cut));
    all[number + 1] = new Node(Arrays.copyOfRange(more, cut, more.length));
    System.arraycopy(nodes, number + 1, all, number + 2, nodes.length - number - 1);
    return all;
  }

  /**
   * Removes a block, which is not the first.
   *
   * @param before what to do right before it is found here no more; not done if this throws, and
   *     nothing is removed then
   */
  synchronized void remove(BlockEntry entry, Runnable before) {
    Node[] without = without(entry);
    before.run();
    publish(without);
  }

  private Node[] without(BlockEntry entry) {
    MemorySegment low = entry.low();
    int number = nodeOf(nodes, low);
    BlockEntry[] entries = nodes[number].entries;
    int place = nodes[number].last(low);
    if (entries.length > 1) {
      BlockEntry[] fewer = Arrays.copyOf(entries, entries.length - 1);
      System.arraycopy(entries, place + 1, fewer, place, fewer.length - place);
      return with(number, new Node(fewer));
    }
    Node[] all = Arrays.copyOf(nodes, nodes.length - 1);
    System.arraycopy(nodes, number + 1, all, number, all.length - number);
    return all;
  }

  private Node[] with(int number, Node node) {
    Node[] all = nodes.clone();
    all[number] = node;
    return all;
  }

  /** Replaces the only block by others, which have all of its keys. */
  synchronized void replaceAll(List<BlockEntry> entries) {
    publish(nodes(entries));
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Writers hold this object's monitor.
  private void publish(Node[] all) {
    nodes = all;
    changes++;
  }

  /** Returns the number of arrays that the blocks are in. */
  int nodes() {
    return nodes.length;
  }

  /** Returns some blocks in a row, by a number of which any will do; they must not be changed. */
  BlockEntry[] entries(int number) {
    Node[] seen = nodes;
    return seen.length == 0 ? NO_ENTRIES : seen[Math.floorMod(number, seen.length)].entries;
  }

  /**
   * Returns the number of arrays that have the blocks of a range.
   *
   * @param to the first key behind the range, {@code null} if it has no end
   */
  int nodes(MemorySegment from, @Nullable MemorySegment to) {
    Node[] seen = nodes;
    return nodeOf(seen, to) - nodeOf(seen, from) + 1;
  }

  /**
   * Returns those blocks of one of these arrays that are in the range, by a number of which any
   * will do.
   */
  List<BlockEntry> entries(int number, MemorySegment from, @Nullable MemorySegment to) {
    Node[] seen = nodes;
    int first = nodeOf(seen, from);
    int last = nodeOf(seen, to);
    int drawn = first + Math.floorMod(number, last - first + 1);
    Node node = seen[drawn];
    int low = drawn == first ? Math.max(node.last(from), 0) : 0;
    int high = drawn == last && to != null ? Math.max(node.last(to), 0) : node.entries.length - 1;
    return Arrays.asList(node.entries).subList(low, high + 1);
  }

  /** Returns all blocks in the order of their ranges. */
  BlockEntry[] all() {
    return Arrays.stream(nodes)
        .flatMap(node -> Arrays.stream(node.entries))
        .toArray(BlockEntry[]::new);
  }

  /** Returns the number of blocks. */
  int size() {
    int size = 0;
    for (Node node : nodes) {
      size += node.entries.length;
    }
    return size;
  }

  /** Returns the number of changes of all blocks that wait. */
  long changesWaiting() {
    long changes = 0;
    for (Node node : nodes) {
      for (BlockEntry entry : node.entries) {
        changes += entry.state().delta().count();
      }
    }
    return changes;
  }

  /** Returns the bytes of local memory that the directory takes, in a heap of less than 32 GB. */
  long localBytes() {
    long bytes = 0;
    for (Node node : nodes) {
      bytes += NODE_OBJECT_BYTES + node.countedLow.byteSize();
      bytes += (long) node.entries.length * ENTRY_BYTES;
      for (BlockEntry entry : node.entries) {
        bytes += entry.localBytes();
      }
    }
    return bytes;
  }
}
