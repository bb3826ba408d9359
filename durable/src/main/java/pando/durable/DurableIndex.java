package pando.durable;

import java.util.Optional;
import java.util.function.Supplier;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.IndexOptions;
import pando.index.LastError;
import pando.index.Meters;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Unwritten;
import pando.journal.DataFolder;
import pando.journal.EntryStream;
import pando.journal.Log;

/**
 * An index that logs what changes it. All that this process does to it must go through here, and no
 * other process may change it. Thread-safe.
 */
public final class DurableIndex implements RangeIndex {
  /** The kind of folders of words: see {@link DataFolder#open}. */
  public static final String KIND = "words";

  private static final double FILL = 0.8;

  private final RangeIndex inner;
  private final Supplier<SessionLog> logs;
  private final Stripes stripes = new Stripes();

  /**
   * Makes an index that has the entries of a folder, and logs there what changes it. Who closes the
   * index closes the folder afterwards.
   *
   * @param options of any system: it need not be that of the entries' last index
   * @throws pando.journal.DamagedLogException if a file of the folder is damaged
   */
  public static DurableIndex open(DataFolder folder, IndexOptions options, Fabric fabric) {
    RangeIndex index = options.create(fabric);
    try {
      try (EntryStream entries = folder.entries()) {
        index.bulkLoad(new FolderWords(folder, entries), FILL);
      }
      return over(index, folder.begin());
    } catch (Throwable e) {
      Closing.after(e, index::close);
      throw e;
    }
  }

  /**
   * Logs what changes an index from now on.
   *
   * @param index whose entries the log knows
   * @throws IllegalArgumentException if other processes may change it, too
   */
  public static DurableIndex over(RangeIndex index, Log log) {
    return new DurableIndex(index, () -> new JournalLog(log));
  }

  /**
   * Logs changes of an index.
   *
   * @param logs makes the log of a session
   * @throws IllegalArgumentException if other processes may change the index, too
   */
  DurableIndex(RangeIndex inner, Supplier<SessionLog> logs) {
    if (inner.isShared()) {
      throw new IllegalArgumentException(
          "other processes may change the index: system=" + inner.name());
    }
    this.inner = inner;
    this.logs = logs;
  }

  @Override
  public DurableSession session() {
    return new DurableSession(inner.session(), stripes, logs.get());
  }

  /**
   * {@inheritDoc}
   *
   * <p>Then each entry is logged, and nobody sees one before all are. If the log has no room for
   * them, it has failed.
   */
  @Override
  public long bulkLoad(EntrySource entries, double fill) {
    SessionLog log = logs.get();
    long[] loaded = new long[1];
    long[] lsn = new long[1];
    stripes.alone(() -> {
      log.check();
      long[] before = stripes.beginAll();
      try {
        loaded[0] = inner.bulkLoad(entries, fill);
      } catch (Throwable e) {
        stripes.endAll(before, 0);
        throw e;
      }
      try {
        lsn[0] = append(log);
      } catch (Throwable e) {
        log.fail(e);
        throw e;
      }
      stripes.endAll(before, lsn[0]);
    });
    if (log.waitsForSync()) {
      log.awaitSynced(lsn[0]);
    }
    return loaded[0];
  }

  /** Logs all entries; returns the lsn of the last one. */
  private long append(SessionLog log) {
    long[] lsn = new long[1];
    try (Session session = inner.session()) {
      session.scan(
          Long.MIN_VALUE,
          Long.MAX_VALUE,
          (key, value) -> {
            log.putWord(key, value);
            log.reserve(log.bytes());
            lsn[0] = log.append();
            return true;
          });
    }
    return lsn[0];
  }

  @Override
  public VerbCounters verbs() {
    return inner.verbs();
  }

  @Override
  public CacheCounters cache() {
    return inner.cache();
  }

  @Override
  public Partitioning partitioning() {
    return inner.partitioning();
  }

  @Override
  public Optional<MovablePartitions> partitions() {
    return inner.partitions();
  }

  @Override
  public boolean serves(long key) {
    return inner.serves(key);
  }

  @Override
  public boolean isShared() {
    return inner.isShared();
  }

  @Override
  public long poolBytes() {
    return inner.poolBytes();
  }

  @Override
  public PoolSpace space() {
    return inner.space();
  }

  @Override
  public long cachedBytes() {
    return inner.cachedBytes();
  }

  @Override
  public void meters(Meters to) {
    inner.meters(to);
  }

  @Override
  public String name() {
    return inner.name();
  }

  @Override
  public Fabric fabric() {
    return inner.fabric();
  }

  @Override
  public Optional<LastError> lastError() {
    return inner.lastError();
  }

  @Override
  public void flush() {
    inner.flush();
  }

  @Override
  public Unwritten unwritten() {
    return inner.unwritten();
  }

  @Override
  public boolean isClosed() {
    return inner.isClosed();
  }

  /** {@inheritDoc} Changes that are under way are logged first. */
  @Override
  public void close() {
    stripes.alone(inner::close);
  }
}
