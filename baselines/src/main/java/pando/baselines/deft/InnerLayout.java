package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.Children;
import pando.baselines.blink.SortedEntries;
import pando.fabric.VerbList;
import pando.fabric.memory.Words;

/**
 * The bytes of an inner node: the {@linkplain NodeHeader header} and four segments of entries (DEFT
 * section 4.2). The drawing is of a node of 1 KB.
 *
 * <pre>
 *  0        48     64                  304                 544       784       1024
 * +--------+------+-------------------+-------------------+---------+---------+
 * | header | e -1 | segment 0: e0-e14 | segment 1: e15-29 | 30-44   | 45-59   |
 * +--------+------+-------------------+-------------------+---------+---------+
 *          |&lt;------- 256 B -----------&gt;|
 *                                 |&lt;--- 256 B -----------&gt;|
 *  entry: pointer (8), least key of the child (8)
 *
 *              63  62       32 31      30   23 22   16 15    8 7           0
 *             +---+-----------+--------+-------+-------+-------+-------------+
 *  descriptor | 0 | magic     | hidden | 0     | shape | level | version     |
 *             +---+-----------+--------+-------+-------+-------+-------------+
 * </pre>
 *
 * <p>The {@link DeftShape} in the pointer to a node divides the node into parts: four segments, two
 * halves, or one whole. The entries of a part are in any order, except that its last entry has the
 * greatest key. If a part has no entries of its own, its last entry repeats the last one of the
 * part before. So a READ of a part and of the one entry before it (in 1 KB, 16 entries or 256
 * bytes) has the child of every key of the part. The entry before the first segment is that of the
 * leftmost child.
 *
 * <p>An entry is added by a WRITE of its 16 bytes. If it becomes the last entry of its part,
 * another WRITE moves the old last entry, and one more WRITE updates each following empty part,
 * which repeats it. A reader that finds only some of these WRITEs finds a child further left, never
 * one further right, and goes on along the siblings.
 *
 * <p>Every entry, used or not, has the node's data version in its pointer. The version changes when
 * all entries are arranged anew, not when an entry is added in place.
 */
final class InnerLayout {
  /** Index of the entry before the segments: that of the leftmost child. */
  static final int FIRST = -1;

  private static final int SEGMENTS = DeftShape.QUARTERS;
  private static final int ENTRIES = NodeHeader.BYTES;
  private static final int ENTRY_BYTES = 16;
  private static final int KEY = 8;

  private static final long MAGIC = 0x0DEF_7B7EL << 32;
  private static final long MAGIC_MASK = 0xFFFF_FFFFL << 32;
  private static final long HIDDEN = 1L << 31;
  private static final long RESERVED = 0x7F80_0000L;
  private static final int SHAPE_SHIFT = 16;
  private static final long SHAPE_MASK = 0x7FL << SHAPE_SHIFT;
  private static final int LEVEL_SHIFT = 8;
  private static final int BYTE_MASK = 0xFF;

  private static final int GROUP_BYTES = 192;
  private static final int GROUPS_MIN = 2;
  private static final int GROUPS_MAX = 5;

  static final int NODE_BYTES_MAX = NodeHeader.BYTES + GROUPS_MAX * GROUP_BYTES;

  private final int nodeBytes;
  private final int segmentEntries;
  private final boolean segmented;

  /**
   * Creates the layout of inner nodes.
   *
   * @param nodeBytes size of a node in bytes: 64 for the header, and 192 for each of 2 to 5 groups
   *     of a leaf
   * @param segmented whether nodes are divided into parts; else every node is one part
   */
  InnerLayout(int nodeBytes, boolean segmented) {
    int groups = (nodeBytes - NodeHeader.BYTES) / GROUP_BYTES;
    if (groups < GROUPS_MIN
        || groups > GROUPS_MAX
        || nodeBytes != NodeHeader.BYTES + groups * GROUP_BYTES) {
      throw new IllegalArgumentException(
          "node size must be 448, 640, 832 or 1024: nodeBytes=" + nodeBytes);
    }
    this.nodeBytes = nodeBytes;
    this.segmented = segmented;
    this.segmentEntries = (nodeBytes - NodeHeader.BYTES) / SEGMENTS / ENTRY_BYTES;
  }

  int nodeBytes() {
    return nodeBytes;
  }

  /** Returns the maximum number of children of a node, including the leftmost one. */
  int capacity() {
    return SEGMENTS * segmentEntries + 1;
  }

  /** Returns the maximum number of children of a segment, including the one before it. */
  int segmentChildren() {
    return segmentEntries + 1;
  }

  /** Returns the bytes of a segment, including the entry before it. */
  int segmentBytes() {
    return segmentChildren() * ENTRY_BYTES;
  }

  // The header.

  static boolean isDescriptor(long descriptor) {
    return (descriptor & (MAGIC_MASK | RESERVED)) == MAGIC;
  }

  static int level(long descriptor) {
    return (int) (descriptor >>> LEVEL_SHIFT) & BYTE_MASK;
  }

  static int version(long descriptor) {
    return (int) descriptor & ChildPointer.VERSION_MASK;
  }

  /** Returns the shape of a node. A pointer to the node may still have an earlier shape. */
  static int shape(long descriptor) {
    return (int) ((descriptor & SHAPE_MASK) >>> SHAPE_SHIFT);
  }

  static boolean isHidden(long descriptor) {
    return (descriptor & HIDDEN) != 0;
  }

  /**
   * Formats a node without children.
   *
   * @param stamp start of the versions, so that they differ from those of an earlier node in this
   *     place
   */
  void format(
      MemorySegment memory,
      long node,
      long address,
      int level,
      long low,
      long high,
      long sibling,
      long stamp) {
    memory.asSlice(node, nodeBytes).fill((byte) 0);
    long version = stamp & ChildPointer.VERSION_MASK;
    Words.set(memory, node, MAGIC | ((long) level << LEVEL_SHIFT) | version);
    NodeHeader.setFences(memory, node, low, high);
    NodeHeader.setSibling(memory, node, sibling);
    NodeHeader.setAddress(memory, node, address);
  }

  /** Hides a node, so that it is not part of the tree, or shows it. */
  static void setHidden(MemorySegment memory, long node, boolean hidden) {
    long descriptor = NodeHeader.first(memory, node);
    Words.set(memory, node, hidden ? descriptor | HIDDEN : descriptor & ~HIDDEN);
  }

  // Parts.

  private int partEntries(int shape) {
    return segmentEntries * (SEGMENTS / DeftShape.parts(shape));
  }

  /** Adds the READ of a part and of the entry before it, to the same offsets in the local node. */
  void addRead(VerbList list, int shape, int part, long address, long node) {
    if (shape == DeftShape.WHOLE) {
      list.read(address, node, nodeBytes);
      return;
    }
    long start = position(part * partEntries(shape) - 1);
    list.read(address + start, node + start, (partEntries(shape) + 1) * ENTRY_BYTES);
  }

  /** Returns whether all entries of a part, and the one before it, have the given data version. */
  boolean hasVersion(MemorySegment memory, long node, int shape, int part, int version) {
    int first = part * partEntries(shape);
    boolean equal = true;
    for (int index = first - 1; index < first + partEntries(shape); index++) {
      equal &= ChildPointer.data(pointer(memory, node, index)) == version;
    }
    return equal;
  }

  /**
   * Copies the child before a part and the children of the part, in key order.
   *
   * @param low least key that the node covers
   * @param high greatest key that the node is known to cover
   */
  void copyChildren(
      MemorySegment memory,
      long node,
      int shape,
      int part,
      long low,
      long high,
      Children children) {
    int first = part * partEntries(shape);
    children.count = 0;
    for (int index = first - 1; index < first + partEntries(shape); index++) {
      if (isUsed(memory, node, index)) {
        insert(children, key(memory, node, index), pointer(memory, node, index));
      }
    }
    children.low = DeftShape.lowOfPart(shape, low, part);
    children.high = DeftShape.highOfPart(shape, low, high, part);
  }

  /** Inserts a child in key order. Does nothing if there is a child with this key. */
  static void insert(Children children, long key, long pointer) {
    children.count =
        SortedEntries.insert(children.keys, children.pointers, children.count, key, pointer);
  }

  // Entries, numbered from FIRST, the one before the segments.

  private static int position(int index) {
    return ENTRIES + index * ENTRY_BYTES;
  }

  static long pointer(MemorySegment memory, long node, int index) {
    return Words.get(memory, node + position(index));
  }

  static long key(MemorySegment memory, long node, int index) {
    return Words.get(memory, node + position(index) + KEY);
  }

  private static boolean isUsed(MemorySegment memory, long node, int index) {
    return !ChildPointer.isNull(pointer(memory, node, index));
  }

  private static void put(MemorySegment memory, long node, int index, long key, long pointer) {
    Words.set(memory, node + position(index), pointer);
    Words.set(memory, node + position(index) + KEY, key);
  }

  /**
   * Stores all children of a node, in the best shape for them, with the next data version.
   *
   * @param children children in key order; those from index {@code from} (inclusive) to {@code to}
   *     (exclusive) are stored, and the first begins at the node's low fence
   * @return the pointer to the node
   */
  long arrange(MemorySegment memory, long node, Children children, int from, int to) {
    long[] keys = children.keys;
    long[] pointers = children.pointers;
    int shape = shapeFor(keys, from, to, NodeHeader.high(memory, node));
    long descriptor = NodeHeader.first(memory, node);
    int version = (version(descriptor) + 1) & ChildPointer.VERSION_MASK;
    Words.set(
        memory,
        node,
        (descriptor & ~(SHAPE_MASK | BYTE_MASK)) | ((long) shape << SHAPE_SHIFT) | version);
    for (int index = FIRST; index < SEGMENTS * segmentEntries; index++) {
      put(memory, node, index, 0, ChildPointer.withData(0, version));
    }
    put(memory, node, FIRST, keys[from], ChildPointer.withData(pointers[from], version));
    int next = from + 1;
    for (int part = 0; part < DeftShape.parts(shape); part++) {
      int index = part * partEntries(shape);
      int last = index + partEntries(shape) - 1;
      while (next < to && DeftShape.partOf(shape, keys[from], keys[next]) == part) {
        put(memory, node, index++, keys[next], ChildPointer.withData(pointers[next], version));
        next++;
      }
      // The last entry gets the greatest child of the part, or of the part before it.
      long pointer = ChildPointer.withData(pointers[next - 1], version);
      if (index > part * partEntries(shape)) {
        put(memory, node, index - 1, 0, ChildPointer.withData(0, version));
      }
      put(memory, node, last, keys[next - 1], pointer);
    }
    return pointerTo(NodeHeader.address(memory, node), NodeHeader.first(memory, node));
  }

  /** Returns the pointer to a node with a descriptor. */
  static long pointerTo(long address, long descriptor) {
    return ChildPointer.toInner(address, shape(descriptor), version(descriptor));
  }

  /**
   * Returns the shape with the most parts that has room for the keys; of these, the most evenly
   * filled one.
   */
  private int shapeFor(long[] keys, int from, int to, long high) {
    int width = Long.SIZE - Long.numberOfLeadingZeros(high - keys[from]);
    for (int parts = SEGMENTS; segmented && parts > 1; parts /= 2) {
      int best = DeftShape.WHOLE;
      int least = segmentEntries * (SEGMENTS / parts) + 1;
      // Begins with the shift that divides the range of keys evenly, which is best for uniform
      // keys.
      for (int shift = Math.max(width - 2, 0); shift >= 0; shift--) {
        int shape = DeftShape.of(parts, shift);
        int most = fullest(shape, keys, from, to);
        if (most < least) {
          least = most;
          best = shape;
        }
      }
      if (best != DeftShape.WHOLE) {
        return best;
      }
    }
    return DeftShape.WHOLE;
  }

  private static int fullest(int shape, long[] keys, int from, int to) {
    int most = 0;
    int part = 0;
    int size = 0;
    for (int i = from + 1; i < to; i++) {
      int other = DeftShape.partOf(shape, keys[from], keys[i]);
      size = other == part ? size + 1 : 1;
      part = other;
      most = Math.max(most, size);
    }
    return most;
  }

  /**
   * Adds a child to a node in place, if its part has room.
   *
   * @param list receives the WRITEs
   * @return whether the part had room; if not, nothing was changed
   */
  boolean add(MemorySegment memory, long node, long key, long pointer, VerbList list) {
    long descriptor = NodeHeader.first(memory, node);
    int shape = shape(descriptor);
    int part = DeftShape.partOf(shape, NodeHeader.low(memory, node), key);
    int first = part * partEntries(shape);
    int last = first + partEntries(shape) - 1;
    long added = ChildPointer.withData(pointer, version(descriptor));
    if (isRepeated(memory, node, shape, part)) {
      store(memory, node, last, key, added, list);
    } else {
      int unused = findUnused(memory, node, first, last);
      if (unused < 0) {
        return false;
      }
      long lastKey = key(memory, node, last);
      if (key < lastKey) {
        store(memory, node, unused, key, added, list);
        return true;
      }
      store(memory, node, unused, lastKey, pointer(memory, node, last), list);
      store(memory, node, last, key, added, list);
    }
    for (int next = part + 1;
        next < DeftShape.parts(shape) && isRepeated(memory, node, shape, next);
        next++) {
      store(memory, node, (next + 1) * partEntries(shape) - 1, key, added, list);
    }
    return true;
  }

  /**
   * Returns whether a part has no entry of its own, so that its last entry repeats one of a part
   * before.
   */
  private boolean isRepeated(MemorySegment memory, long node, int shape, int part) {
    long lastKey = key(memory, node, (part + 1) * partEntries(shape) - 1);
    long low = NodeHeader.low(memory, node);
    return lastKey == low || DeftShape.partOf(shape, low, lastKey) < part;
  }

  private static int findUnused(MemorySegment memory, long node, int first, int last) {
    for (int index = first; index < last; index++) {
      if (!isUsed(memory, node, index)) {
        return index;
      }
    }
    return -1;
  }

  private static void store(
      MemorySegment memory, long node, int index, long key, long pointer, VerbList list) {
    long at = node + position(index);
    put(memory, node, index, key, pointer);
    list.write(NodeHeader.address(memory, node) + position(index), at, ENTRY_BYTES);
  }

  /** Replaces all pointers of a node to the child whose least key is {@code key}. */
  void replace(MemorySegment memory, long node, long key, long pointer, VerbList list) {
    long replaced = ChildPointer.withData(pointer, version(NodeHeader.first(memory, node)));
    for (int index = FIRST; index < SEGMENTS * segmentEntries; index++) {
      if (isUsed(memory, node, index) && key(memory, node, index) == key) {
        store(memory, node, index, key, replaced, list);
      }
    }
  }
}
