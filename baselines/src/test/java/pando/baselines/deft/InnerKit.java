package pando.baselines.deft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import pando.baselines.blink.Children;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;

/** An inner node as its writer has it, as it is in the pool, and as readers of its parts see it. */
final class InnerKit implements AutoCloseable {
  static final long ADDRESS = GlobalAddress.of(3, 1 << 16);
  private static final int LEVEL = 1;
  private static final long UNIT = 64;

  final InnerLayout layout;
  final NavigableMap<Long, Long> model = new TreeMap<>();
  private final long low;
  private final long high;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment writers;
  private final MemorySegment pool;
  private final MemorySegment readers;
  private final VerbList list = new VerbList();
  private final Children children;
  private long made;

  /** Makes a node with its first child, at its low fence. */
  InnerKit(int nodeBytes, boolean segmented, long low, long high) {
    this.layout = new InnerLayout(nodeBytes, segmented);
    this.low = low;
    this.high = high;
    this.writers = arena.allocate(nodeBytes, UNIT);
    this.pool = arena.allocate(nodeBytes, UNIT);
    this.readers = arena.allocate(nodeBytes, UNIT);
    this.children = new Children(layout.capacity() + 1);
    layout.format(writers, 0, ADDRESS, LEVEL, low, high, GlobalAddress.NULL, 0);
    model.put(low, nextChild());
    arrange();
  }

  private long nextChild() {
    return ChildPointer.toLeaf(GlobalAddress.of((int) (made % 20), (1 << 20) + made++ * UNIT));
  }

  /** Returns the node as its writer has it. */
  MemorySegment bytes() {
    return writers;
  }

  int shape() {
    return InnerLayout.shape(NodeHeader.first(writers, 0));
  }

  int version() {
    return InnerLayout.version(NodeHeader.first(writers, 0));
  }

  /** Stores all children anew, and checks what becomes of them. */
  void arrange() {
    children.count = 0;
    model.forEach((key, pointer) -> InnerLayout.insert(children, key, pointer));
    int before = version();
    long pointer = layout.arrange(writers, 0, children, 0, children.count);
    pool.copyFrom(writers);
    assertThat(ChildPointer.address(pointer)).isEqualTo(ADDRESS);
    assertThat(ChildPointer.shape(pointer)).isEqualTo(shape());
    assertThat(ChildPointer.commit(pointer)).isEqualTo(version());
    assertThat(version()).isEqualTo((before + 1) & ChildPointer.VERSION_MASK);
    check();
  }

  /** Adds a child in place, and checks every moment of it; {@code false} where there is no room. */
  boolean add(long key) {
    NavigableSet<Long> either = new TreeSet<>(model.keySet());
    long child = nextChild();
    boolean added = layout.add(writers, 0, key, child, list.clear());
    if (!added) {
      assertThat(list.size()).isZero();
      assertThat(pool.mismatch(writers)).as("nothing has changed").isEqualTo(-1);
      return false;
    }
    for (int last = list.size() - 1; last >= 0; last--) {
      checkAfterOne(last, either);
    }
    model.put(key, child);
    land();
    check();
    return true;
  }

  /** Replaces a child, and checks that the old one is not to be found any more. */
  void replace(long key) {
    model.put(key, nextChild());
    layout.replace(writers, 0, key, model.get(key), list.clear());
    land();
    check();
  }

  /** Lets all WRITEs of the list take effect in the pool. */
  private void land() {
    for (int i = 0; i < list.size(); i++) {
      land(i);
    }
    assertThat(pool.mismatch(writers)).as("the pool has what was written").isEqualTo(-1);
  }

  private void land(int index) {
    long at = list.remote(index) - ADDRESS;
    assertThat(at).isEqualTo(list.local(index));
    assertThat(list.length(index)).isEqualTo(16);
    MemorySegment.copy(writers, at, pool, at, list.length(index));
  }

  /** Checks what a reader finds who meets one of the WRITEs alone. */
  private void checkAfterOne(int index, NavigableSet<Long> before) {
    byte[] whole = pool.toArray(JAVA_BYTE);
    land(index);
    NavigableSet<Long> either = new TreeSet<>(before);
    either.add(InnerLayout.key(writers, 0, (int) ((list.local(index) - 64) / 16)));
    for (int part = 0; part < DeftShape.parts(shape()); part++) {
      readPart(part);
      layout.copyChildren(readers, 0, shape(), part, low, high, children);
      for (long key : keysToAsk()) {
        if (DeftShape.partOf(shape(), low, key) == part) {
          long found = children.keys[children.childOf(key)];
          assertThat(either).as("WRITE %d, key=%d", index, key).contains(found);
          assertThat(found).as("WRITE %d, key=%d", index, key).isLessThanOrEqualTo(key);
        }
      }
    }
    MemorySegment.copy(whole, 0, pool, JAVA_BYTE, 0, whole.length);
  }

  /** Brings a part as a READ would, beside what was there before. */
  private void readPart(int part) {
    for (int at = 0; at < layout.nodeBytes(); at++) {
      readers.set(JAVA_BYTE, at, (byte) 0x55);
    }
    VerbList read = new VerbList();
    layout.addRead(read, shape(), part, ADDRESS, 0);
    assertThat(read.size()).isEqualTo(1);
    long at = read.local(0);
    assertThat(read.remote(0)).isEqualTo(ADDRESS + at);
    MemorySegment.copy(pool, at, readers, at, read.length(0));
  }

  private NavigableSet<Long> keysToAsk() {
    NavigableSet<Long> keys = new TreeSet<>();
    for (long key : model.keySet()) {
      keys.add(key);
      keys.add(Math.max(key, low + 1) - 1);
      keys.add(Math.min(key, high - 1) + 1);
    }
    keys.add(high);
    for (int part = 0; part < DeftShape.parts(shape()); part++) {
      long end = DeftShape.highOfPart(shape(), low, high, part);
      keys.add(end);
      keys.add(Math.min(end, high - 1) + 1);
    }
    keys.removeIf(key -> key < low || key > high);
    return keys;
  }

  /** Checks that the whole holds the model, and each part by itself the child of all its keys. */
  private void check() {
    layout.copyChildren(writers, 0, DeftShape.WHOLE, 0, low, high, children);
    assertThat(copied()).isEqualTo(model);
    assertThat(layout.hasVersion(writers, 0, DeftShape.WHOLE, 0, version())).isTrue();
    for (int part = 0; part < DeftShape.parts(shape()); part++) {
      readPart(part);
      assertThat(layout.hasVersion(readers, 0, shape(), part, version())).isTrue();
      assertThat(layout.hasVersion(readers, 0, shape(), part, version() ^ 1)).isFalse();
      layout.copyChildren(readers, 0, shape(), part, low, high, children);
      assertThat(children.high).isEqualTo(DeftShape.highOfPart(shape(), low, high, part));
      assertThat(children.low).isEqualTo(DeftShape.lowOfPart(shape(), low, part));
      NavigableMap<Long, Long> known = copied();
      for (long key : keysToAsk()) {
        if (DeftShape.partOf(shape(), low, key) == part) {
          String what = "key=" + key + ", part=" + part + ", shape=" + shape();
          assertThat(known.floorEntry(key)).as(what).isEqualTo(model.floorEntry(key));
          long found = children.pointers[children.childOf(key)];
          assertThat(ChildPointer.withData(found, 0))
              .as(what)
              .isEqualTo(model.floorEntry(key).getValue());
        }
      }
    }
  }

  private NavigableMap<Long, Long> copied() {
    NavigableMap<Long, Long> copy = new TreeMap<>();
    for (int i = 0; i < children.count; i++) {
      copy.put(children.keys[i], ChildPointer.withData(children.pointers[i], 0));
    }
    assertThat(copy).as("each child once").hasSize(children.count);
    return copy;
  }

  @Override
  public void close() {
    arena.close();
  }
}
