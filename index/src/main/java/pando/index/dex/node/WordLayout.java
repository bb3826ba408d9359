package pando.index.dex.node;

import java.lang.foreign.MemorySegment;

/** Nodes with keys of one word. A key outside a node is the word itself. */
final class WordLayout extends NodeLayout {
  private static final int LOW = FENCES;
  private static final int HIGH = LOW + Long.BYTES;
  private static final int KEYS = HEADER_BYTES;

  /** Keys in one cache line of the processor. */
  private static final int LINE_KEYS = 8;

  WordLayout(int nodeBytes) {
    super(nodeBytes, Long.BYTES, 0);
  }

  @Override
  public long keep(MemorySegment memory, long key, long place) {
    return key;
  }

  @Override
  public long before(MemorySegment memory, long key, long place) {
    return key - 1;
  }

  @Override
  public long after(MemorySegment memory, long key, long place) {
    return key + 1;
  }

  @Override
  public long make(MemorySegment memory, long first, long rest, long place) {
    return first;
  }

  @Override
  public long first(MemorySegment memory, long key) {
    return key;
  }

  @Override
  public boolean endsWith(MemorySegment memory, long key, long rest) {
    return true;
  }

  @Override
  public int compare(MemorySegment memory, long one, long other) {
    return Long.compare(one, other);
  }

  @Override
  public void toWords(MemorySegment memory, long key, long[] words, int at) {
    words[at] = key;
  }

  @Override
  public long ofWords(long[] words, int at, MemorySegment memory, long place) {
    return words[at];
  }

  @Override
  public void store(MemorySegment memory, long place, long key) {
    memory.set(LONG, place, key);
  }

  @Override
  public long load(MemorySegment memory, long place) {
    return memory.get(LONG, place);
  }

  @Override
  public NodeLayout withKeysIn(MemorySegment others) {
    return this;
  }

  @Override
  public String text(MemorySegment memory, long key) {
    return Long.toString(key);
  }

  @Override
  public long low(MemorySegment memory, long node) {
    return memory.get(LONG, node + LOW);
  }

  @Override
  public long high(MemorySegment memory, long node) {
    return memory.get(LONG, node + HIGH);
  }

  @Override
  public boolean covers(MemorySegment memory, long node, long key) {
    return low(memory, node) <= key && key <= high(memory, node);
  }

  @Override
  public void setLow(MemorySegment memory, long node, long low) {
    memory.set(LONG, node + LOW, low);
  }

  @Override
  public void setHigh(MemorySegment memory, long node, long high) {
    memory.set(LONG, node + HIGH, high);
  }

  @Override
  public void setHighBefore(MemorySegment memory, long node, long key) {
    setHigh(memory, node, key - 1);
  }

  @Override
  public long key(MemorySegment memory, long node, int index) {
    return memory.get(LONG, node + KEYS + ((long) index << 3));
  }

  @Override
  public void setKey(MemorySegment memory, long node, int index, long key) {
    memory.set(LONG, node + KEYS + ((long) index << 3), key);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Compares the first key of every cache line, then those of one line. No load depends on
   * another, so the lines of a cold node are loaded in parallel; a binary search would load one
   * after the other.
   */
  @Override
  public int floor(MemorySegment memory, long node, long descriptor, long key) {
    int count = Math.min(countOf(descriptor), capacity());
    long first = node + KEYS;
    int line = 0;
    for (int i = LINE_KEYS; i < count; i += LINE_KEYS) {
      line += memory.get(LONG, first + ((long) i << 3)) <= key ? LINE_KEYS : 0;
    }
    int end = Math.min(line + LINE_KEYS, count);
    int index = line - 1;
    for (int i = line; i < end; i++) {
      index += memory.get(LONG, first + ((long) i << 3)) <= key ? 1 : 0;
    }
    return index;
  }

  @Override
  public long separator(MemorySegment memory, long node, int index, long place) {
    return key(memory, node, index);
  }

  @Override
  public boolean holds(MemorySegment memory, long node, int index, long key) {
    return index >= 0 && key(memory, node, index) == key;
  }

  @Override
  long sumOfFences(MemorySegment memory, long node) {
    return low(memory, node) * Multipliers.LOW + high(memory, node) * Multipliers.HIGH;
  }

  @Override
  long sumOfEntries(MemorySegment memory, long node, int count) {
    long[] multipliers = Multipliers.WORDS;
    long keyAt = node + KEYS;
    long slotAt = node + slots;
    long keySum = 0;
    long slotSum = 0;
    for (int i = 0; i < count; i++) {
      keySum += memory.get(LONG, keyAt + ((long) i << 3)) * multipliers[2 * i];
      slotSum += memory.get(LONG, slotAt + ((long) i << 3)) * multipliers[2 * i + 1];
    }
    return keySum + slotSum;
  }

  @Override
  long slotMultiplier(int index) {
    return Multipliers.WORDS[2 * index + 1];
  }
}
