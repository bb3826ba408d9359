package pando.durable;

import java.lang.foreign.MemorySegment;

/** A log that keeps nothing, for measurements. */
final class NullLog implements SessionLog {
  private long lsn;

  @Override
  public void put(MemorySegment key, MemorySegment value) {}

  @Override
  public void putWord(long key, long value) {}

  @Override
  public void remove(MemorySegment key) {}

  @Override
  public void removeWord(long key) {}

  @Override
  public void group() {}

  @Override
  public void addPut(MemorySegment key, MemorySegment value) {}

  @Override
  public void addRemove(MemorySegment key) {}

  @Override
  public long bytes() {
    return WORD_BYTES;
  }

  @Override
  public void reserve(long bytes) {}

  @Override
  public void reserveAlone(long bytes) {
    reserve(bytes);
  }

  @Override
  public void release(long bytes) {}

  @Override
  public long append() {
    return lsn += WORD_BYTES;
  }

  @Override
  public boolean waitsForSync() {
    return false;
  }

  @Override
  public boolean outlivesFailure() {
    return false;
  }

  @Override
  public long synced() {
    return 0;
  }

  @Override
  public void awaitSynced(long place) {}

  @Override
  public void whenSynced(long place, Runnable task) {
    task.run();
  }

  @Override
  public void fail(Throwable cause) {
    throw new AssertionError(cause);
  }

  @Override
  public void check() {}
}
