package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A block in the directory: where its range begins, where the block is, and a copy of it if it is
 * cached. Its latch is held by who changes the block; readers take what {@link #state} says.
 */
final class BlockEntry {
  private static final VarHandle STATE = field("state", State.class);
  private static final VarHandle LATCHED = field("latched", boolean.class);

  /**
   * Where a block is.
   *
   * @param word of the blob that it is in, 0 if the block went into its neighbour
   * @param block the block, {@code null} if it is not cached
   * @param change number of changes before; a word may come again, this does not
   */
  record State(long word, @Nullable Block block, long change) {
    /** Returns whether the block went into its neighbour. */
    boolean isGone() {
      return word == 0;
    }
  }

  /** Number of the block in the index that has the words of all blocks. */
  final long label;

  private final byte[] low;

  /** The first 8 bytes of the low fence as a number, with zeros where it is shorter. */
  private final long head;

  private volatile State state;

  @SuppressWarnings("unused") // Used through LATCHED.
  private volatile boolean latched;

  /** Whether the block was used since the cache last looked. */
  private boolean used;

  BlockEntry(MemorySegment low, long label, State state) {
    this.low = low.toArray(JAVA_BYTE);
    this.head = head(low);
    this.label = label;
    this.state = state;
  }

  private static VarHandle field(String name, Class<?> type) {
    try {
      return MethodHandles.lookup().findVarHandle(BlockEntry.class, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Returns the first 8 bytes of a string as a number, with zeros where it is shorter. */
  static long head(MemorySegment key) {
    long head = 0;
    int length = (int) Math.min(key.byteSize(), Long.BYTES);
    for (int i = 0; i < length; i++) {
      head |= (key.get(JAVA_BYTE, i) & 0xffL) << (Long.SIZE - Byte.SIZE * (i + 1));
    }
    return head;
  }

  /** Returns the first key of the range. */
  MemorySegment low() {
    return MemorySegment.ofArray(low);
  }

  /**
   * Compares where the range begins with a key.
   *
   * @param keyHead as {@link #head} returns it for the key
   */
  int compareLow(MemorySegment key, long keyHead) {
    int compared = Long.compareUnsigned(head, keyHead);
    return compared != 0 ? compared : Block.compare(MemorySegment.ofArray(low), key);
  }

  State state() {
    return state;
  }

  /** Sets another state if it is still the one that is expected. */
  boolean replace(State expected, State next) {
    return STATE.compareAndSet(this, expected, next);
  }

  boolean tryLatch() {
    return LATCHED.compareAndSet(this, false, true);
  }

  boolean isLatched() {
    return latched;
  }

  void unlatch() {
    LATCHED.setRelease(this, false);
  }

  /** Notes that the block is used. */
  void use() {
    if (!used) {
      used = true;
    }
  }

  /** Returns whether the block was used since this was asked last. */
  boolean wasUsed() {
    boolean was = used;
    used = false;
    return was;
  }
}
