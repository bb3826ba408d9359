package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.VerbList;
import pando.fabric.memory.Words;

/** What a search has READ, to be compared with what is there later. Not thread-safe. */
final class NotedNodes implements LeafCollector.Observer {
  /** Nodes that are READ together. */
  private static final int TOGETHER = Descent.LEVELS_MAX;

  private static final int HEADER = NodeLayout.HEADER / Long.BYTES;
  private static final int SLOTS = NodeLayout.SLOTS / Long.BYTES;

  private final SmartContext context;
  private final MemorySegment memory;
  private final VerbList list = new VerbList();

  /** The addresses of nodes, and where their words begin in {@link #words}. */
  private long[] addresses = new long[16];

  private int[] starts = new int[16];
  private int count;
  private long[] words = new long[1_024];
  private int used;

  /** Leaves that were not live yet. */
  private long[] unborn = new long[4];

  private int unbornCount;

  NotedNodes(SmartContext context) {
    this.context = context;
    this.memory = context.memory;
  }

  void clear() {
    count = 0;
    used = 0;
    unbornCount = 0;
  }

  @Override
  public void node(long address, long image) {
    if (count == addresses.length) {
      addresses = Arrays.copyOf(addresses, 2 * count);
      starts = Arrays.copyOf(starts, 2 * count);
    }
    addresses[count] = address;
    starts[count++] = used;
    int size = NodeLayout.bytes(NodeLayout.type(NodeLayout.header(memory, image))) / Long.BYTES;
    if (used + size > words.length) {
      words = Arrays.copyOf(words, 2 * (used + size));
    }
    for (int i = 0; i < size; i++) {
      words[used++] = Words.get(memory, image + (long) i * Long.BYTES);
    }
  }

  @Override
  public boolean leaf(long address, long image) {
    if (LeafLayout.life(LeafLayout.state(memory, image)) == LeafLayout.UNBORN) {
      if (unbornCount == unborn.length) {
        unborn = Arrays.copyOf(unborn, 2 * unbornCount);
      }
      unborn[unbornCount++] = address;
    }
    return true;
  }

  /**
   * READs all that was noted again; returns whether it is the same as far as paths between two are
   * concerned, both inclusive, in either order.
   */
  boolean areSame(long one, long other) {
    boolean ordered = Long.compareUnsigned(one, other) <= 0;
    long least = ordered ? one : other;
    long greatest = ordered ? other : one;
    for (int first = 0; first < count; first += TOGETHER) {
      int end = Math.min(count, first + TOGETHER);
      read(first, end);
      for (int i = first; i < end; i++) {
        if (!isSame(i, context.image(i - first), least, greatest)) {
          return false;
        }
      }
    }
    return areUnborn();
  }

  private void read(int first, int end) {
    list.clear();
    for (int i = first; i < end; i++) {
      int bytes = NodeLayout.bytes(NodeLayout.type(words[starts[i] + HEADER]));
      list.read(addresses[i], context.image(i - first), bytes);
    }
    context.counters.innerReads += list.size();
    context.worker.scatter(list);
  }

  private boolean isSame(int node, long image, long least, long greatest) {
    int start = starts[node];
    long header = words[start + HEADER];
    if (NodeLayout.header(memory, image) != header
        || NodeLayout.id(memory, image) != words[start]
        || (NodeLayout.life(header) != NodeLayout.SEALED && NodeLayout.isFrozen(memory, image))) {
      return false;
    }
    // One that was sealed before is in the tree if its parent is the same, which was noted, too.
    long prefix = NodeLayout.prefix(header);
    int depth = NodeLayout.depth(header);
    int low = KeyPath.startsWith(least, prefix, depth) ? KeyPath.byteAt(least, depth) : 0;
    int high = KeyPath.startsWith(greatest, prefix, depth) ? KeyPath.byteAt(greatest, depth) : 255;
    for (int i = 0; i < NodeLayout.capacity(NodeLayout.type(header)); i++) {
      long before = words[start + SLOTS + i];
      long now = NodeLayout.slot(memory, image, i);
      if (before != now && (isBetween(before, low, high) || isBetween(now, low, high))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isBetween(long slot, int low, int high) {
    int of = Slot.byteOf(slot);
    return Slot.kind(slot) != Slot.UNUSED && of >= low && of <= high;
  }

  private boolean areUnborn() {
    for (int i = 0; i < unbornCount; i++) {
      context.worker.read(unborn[i] + LeafLayout.STATE, context.words, Long.BYTES);
      if (LeafLayout.life(Words.get(memory, context.words)) != LeafLayout.UNBORN) {
        return false;
      }
    }
    return true;
  }
}
