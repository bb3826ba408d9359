package pando.index.dex.node;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Nodes with keys of several words. A key outside a node is the place of its words. The room for
 * fences in the header is not used: the fences stand behind it.
 */
final class WideLayout extends NodeLayout {
  private static final int LOW = HEADER_BYTES;

  private final int high;
  private final int keyWords;

  /** Where keys outside nodes are, {@code null} if they are beside the nodes. */
  private final @Nullable MemorySegment others;

  WideLayout(int nodeBytes, int keyBytes) {
    this(nodeBytes, keyBytes, null);
  }

  private WideLayout(int nodeBytes, int keyBytes, @Nullable MemorySegment others) {
    super(nodeBytes, keyBytes, 2 * keyBytes);
    this.high = LOW + keyBytes;
    this.keyWords = keyBytes / Long.BYTES;
    this.others = others;
  }

  private static long word(MemorySegment memory, long key, int index) {
    return memory.get(LONG, key + ((long) index << 3));
  }

  private MemorySegment outside(MemorySegment memory) {
    MemorySegment known = others;
    return known == null ? memory : known;
  }

  private int compare(MemorySegment memory, long key, MemorySegment itsMemory, long other) {
    for (int i = 0; i < keyWords; i++) {
      long one = word(memory, key, i);
      long two = word(itsMemory, other, i);
      if (one != two) {
        return one < two ? -1 : 1;
      }
    }
    return 0;
  }

  @Override
  public long keep(MemorySegment memory, long key, long place) {
    MemorySegment.copy(memory, key, memory, place, keyBytes());
    return place;
  }

  @Override
  public long before(MemorySegment memory, long key, long place) {
    return step(memory, key, place, -1, Long.MIN_VALUE);
  }

  @Override
  public long after(MemorySegment memory, long key, long place) {
    return step(memory, key, place, 1, Long.MAX_VALUE);
  }

  /**
   * Adds 1 or -1 to a key; a word that has its last value turns over, and the one before it steps.
   */
  private long step(MemorySegment memory, long key, long place, int by, long lastValue) {
    keep(memory, key, place);
    for (int i = keyWords - 1; i >= 0; i--) {
      long word = word(memory, place, i);
      memory.set(LONG, place + ((long) i << 3), word + by);
      if (word != lastValue) {
        break;
      }
    }
    return place;
  }

  @Override
  public long make(MemorySegment memory, long first, long rest, long place) {
    memory.set(LONG, place, first);
    for (int i = 1; i < keyWords; i++) {
      memory.set(LONG, place + ((long) i << 3), rest);
    }
    return place;
  }

  @Override
  public long first(MemorySegment memory, long key) {
    return memory.get(LONG, key);
  }

  @Override
  public boolean endsWith(MemorySegment memory, long key, long rest) {
    for (int i = 1; i < keyWords; i++) {
      if (word(memory, key, i) != rest) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int compare(MemorySegment memory, long one, long other) {
    return compare(memory, one, memory, other);
  }

  @Override
  public void toWords(MemorySegment memory, long key, long[] words, int at) {
    MemorySegment.copy(memory, LONG, key, words, at, keyWords);
  }

  @Override
  public long ofWords(long[] words, int at, MemorySegment memory, long place) {
    MemorySegment.copy(words, at, memory, LONG, place, keyWords);
    return place;
  }

  @Override
  public void store(MemorySegment memory, long place, long key) {
    keep(memory, key, place);
  }

  @Override
  public long load(MemorySegment memory, long place) {
    return place;
  }

  @Override
  public NodeLayout withKeysIn(MemorySegment memory) {
    return new WideLayout(nodeBytes(), keyBytes(), memory);
  }

  /** {@inheritDoc} In hexadecimal digits, as unsigned bytes that order as the key does. */
  @Override
  public String text(MemorySegment memory, long key) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < keyWords; i++) {
      text.append(HexFormat.of().toHexDigits(word(memory, key, i) ^ Long.MIN_VALUE));
    }
    return text.toString();
  }

  @Override
  public long low(MemorySegment memory, long node) {
    return node + LOW;
  }

  @Override
  public long high(MemorySegment memory, long node) {
    return node + high;
  }

  @Override
  public boolean covers(MemorySegment memory, long node, long key) {
    MemorySegment itsMemory = outside(memory);
    return compare(memory, node + LOW, itsMemory, key) <= 0
        && compare(memory, node + high, itsMemory, key) >= 0;
  }

  @Override
  public void setLow(MemorySegment memory, long node, long low) {
    keep(memory, low, node + LOW);
  }

  @Override
  public void setHigh(MemorySegment memory, long node, long greatest) {
    keep(memory, greatest, node + high);
  }

  @Override
  public void setHighBefore(MemorySegment memory, long node, long key) {
    before(memory, key, node + high);
  }

  @Override
  public long key(MemorySegment memory, long node, int index) {
    return keyAt(node, index);
  }

  @Override
  public void setKey(MemorySegment memory, long node, int index, long key) {
    MemorySegment.copy(outside(memory), key, memory, keyAt(node, index), keyBytes());
  }

  /** {@inheritDoc} A binary search: each key is in a line of its own, or nearly so. */
  @Override
  public int floor(MemorySegment memory, long node, long descriptor, long key) {
    MemorySegment itsMemory = outside(memory);
    int below = -1;
    int above = Math.min(countOf(descriptor), capacity());
    while (above - below > 1) {
      int middle = (below + above) >>> 1;
      if (compare(memory, keyAt(node, middle), itsMemory, key) <= 0) {
        below = middle;
      } else {
        above = middle;
      }
    }
    return below;
  }

  @Override
  public long separator(MemorySegment memory, long node, int index, long place) {
    long key = keyAt(node, index);
    long first = first(memory, key);
    boolean isLeaf = level(memory, node) == 0;
    return isLeaf && first != first(memory, keyAt(node, index - 1))
        ? least(memory, first, place)
        : key;
  }

  @Override
  public boolean holds(MemorySegment memory, long node, int index, long key) {
    return index >= 0 && compare(memory, keyAt(node, index), outside(memory), key) == 0;
  }

  @Override
  long sumOfFences(MemorySegment memory, long node) {
    return sum(memory, node, LOW, 2 * keyWords);
  }

  @Override
  long sumOfEntries(MemorySegment memory, long node, int count) {
    return sum(memory, node, keys, count * keyWords) + sum(memory, node, slots, count);
  }

  private static long sum(MemorySegment memory, long node, int offset, int words) {
    int first = multiplier(offset);
    long sum = 0;
    for (int i = 0; i < words; i++) {
      sum += word(memory, node + offset, i) * Multipliers.WORDS[first + i];
    }
    return sum;
  }

  private static int multiplier(int offset) {
    return (offset - HEADER_BYTES) / Long.BYTES;
  }

  @Override
  long slotMultiplier(int index) {
    return Multipliers.WORDS[multiplier(slots) + index];
  }
}
