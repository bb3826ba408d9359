package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import pando.index.session.Operation;

/** A session whose changes of one key are one method. */
@SuppressWarnings("exports") // Only modules that see operations make such sessions.
public abstract class ChangingSession implements ByteSession {
  /** Stands for a value that an operation does not have. */
  protected static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** Creates a session. */
  protected ChangingSession() {}

  /**
   * Changes the entry of a key.
   *
   * @param stored what the operation stores, {@link #NOTHING} if it stores nothing
   * @param expected what it expects, {@link #NOTHING} if it expects nothing
   * @return the answer of the operation, if it has one
   */
  protected abstract boolean change(
      Operation operation, MemorySegment wanted, MemorySegment stored, MemorySegment expected);

  @Override
  public final boolean put(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.PUT, wanted, stored, NOTHING);
  }

  @Override
  public final boolean putIfAbsent(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.PUT_IF_ABSENT, wanted, stored, NOTHING);
  }

  @Override
  public final boolean update(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.UPDATE, wanted, stored, NOTHING);
  }

  @Override
  public final boolean remove(MemorySegment wanted) {
    return change(Operation.REMOVE, wanted, NOTHING, NOTHING);
  }

  @Override
  public final boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    return change(Operation.REPLACE, wanted, stored, expected);
  }

  @Override
  public final boolean remove(MemorySegment wanted, MemorySegment expected) {
    return change(Operation.REMOVE_EXPECTED, wanted, NOTHING, expected);
  }

  @Override
  public final void store(MemorySegment wanted, MemorySegment stored) {
    change(Operation.STORE, wanted, stored, NOTHING);
  }

  @Override
  public final void discard(MemorySegment wanted) {
    change(Operation.DISCARD, wanted, NOTHING, NOTHING);
  }
}
