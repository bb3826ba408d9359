package pando.durable;

import java.lang.foreign.MemorySegment;
import pando.journal.RecordBuilder;
import pando.journal.RecordLog;

/** A session's way to a log of records. */
final class JournalLog implements SessionLog {
  private final RecordLog log;
  private final RecordBuilder record = new RecordBuilder();

  JournalLog(RecordLog log) {
    this.log = log;
  }

  @Override
  public void put(MemorySegment key, MemorySegment value) {
    record.put(key, value);
  }

  @Override
  public void putWord(long key, long value) {
    record.putWord(key, value);
  }

  @Override
  public void remove(MemorySegment key) {
    record.remove(key);
  }

  @Override
  public void removeWord(long key) {
    record.removeWord(key);
  }

  @Override
  public void group() {
    record.group();
  }

  @Override
  public void addPut(MemorySegment key, MemorySegment value) {
    record.addPut(key, value);
  }

  @Override
  public void addRemove(MemorySegment key) {
    record.addRemove(key);
  }

  @Override
  public long bytes() {
    return record.bytes();
  }

  @Override
  public void reserve(long bytes) {
    log.reserve(bytes);
  }

  @Override
  public void reserveAlone(long bytes) {
    log.reserveAlone(bytes);
  }

  @Override
  public void release(long bytes) {
    log.release(bytes);
  }

  @Override
  public long append() {
    return log.append(record);
  }

  @Override
  public boolean waitsForSync() {
    return log.waitsForSync();
  }

  @Override
  public boolean outlivesFailure() {
    return log.outlivesFailure();
  }

  @Override
  public long synced() {
    return log.synced();
  }

  @Override
  public void awaitSynced(long lsn) {
    log.awaitSynced(lsn);
  }

  @Override
  public void whenSynced(long lsn, Runnable task) {
    log.whenSynced(lsn, task);
  }

  @Override
  public void fail(Throwable cause) {
    log.fail(cause);
  }

  @Override
  public void check() {
    log.check();
  }
}
