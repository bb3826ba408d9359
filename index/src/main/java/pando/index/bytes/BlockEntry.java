package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Fields;

/**
 * A block in the directory: where it is, and a copy of it if it is cached. Its latch is held by the
 * session that changes the block; readers take what {@link #state} says.
 */
final class BlockEntry {
  private static final VarHandle COPY = Fields.handle(MethodHandles.lookup(), "copy", Block.class);
  private static final VarHandle LATCHED =
      Fields.handle(MethodHandles.lookup(), "latched", boolean.class);

  /** Bytes of this object and its state without the outline, in a heap of less than 32 GB. */
  private static final int OBJECT_BYTES = 32 + 40 + 16;

  /**
   * Number of the block in the index that has the words of all blocks. It changes only while no
   * session works.
   */
  private volatile long label;

  private volatile BlockState state;

  /** A copy of the block with some version, perhaps not the last one. */
  private volatile @Nullable Block copy;

  @SuppressWarnings("unused") // Used through LATCHED.
  private volatile boolean latched;

  /** Whether the copy was used since the cache last looked. */
  private boolean used;

  BlockEntry(long label, BlockState state) {
    this.label = label;
    this.state = state;
  }

  long label() {
    return label;
  }

  void setLabel(long other) {
    label = other;
  }

  /** Returns the first key of the range, which never changes. */
  MemorySegment low() {
    return Outline.low(state.outline());
  }

  /** {@inheritDoc} By the first key: so sets of blocks are in the same order in each run. */
  @Override
  public int hashCode() {
    return Long.hashCode(ByteKeyHash.of(low()));
  }

  /** Compares where the range begins with a key. */
  int compareLow(MemorySegment key) {
    return Outline.compareLow(state.outline(), key);
  }

  /** Returns what {@link Outline#agreesLow} does for a key. */
  int agreesLow(MemorySegment key) {
    return Outline.agreesLow(state.outline(), key);
  }

  BlockState state() {
    return state;
  }

  /** Says that the block, whose latch is held, is another one. */
  void setState(BlockState next) {
    state = next;
  }

  /** Returns the bytes that the entry takes without the copy and the changes that wait. */
  long localBytes() {
    return OBJECT_BYTES + Block.padded(state.outline().length);
  }

  /** Returns the copy of a block, {@code null} if it is not cached. */
  @Nullable Block copy(BlockState of) {
    Block seen = copy;
    return seen != null && seen.version() == of.version() ? seen : null;
  }

  /** Returns the copy, of whatever version. */
  @Nullable Block copy() {
    return copy;
  }

  /** Sets another copy if it is still the one that is expected. */
  boolean replaceCopy(@Nullable Block expected, @Nullable Block next) {
    return COPY.compareAndSet(this, expected, next);
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

  /** Notes that the copy is used. */
  void use() {
    if (!used) {
      used = true;
    }
  }

  /** Returns whether the copy was used since this was asked last. */
  boolean wasUsed() {
    boolean was = used;
    used = false;
    return was;
  }
}
