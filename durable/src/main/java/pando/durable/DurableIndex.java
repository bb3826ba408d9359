package pando.durable;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.UnknownOutcomeException;
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
import pando.journal.FolderLoad;
import pando.journal.LogFullException;

/**
 * An index that logs what changes it: in a data folder, or, in a cluster, at memory servers. All
 * that this process does to it must go through here, and no other process may change the same keys.
 * Thread-safe.
 */
public final class DurableIndex implements RangeIndex {
  /** The kind of folders of words: see {@link DataFolder#open}. */
  public static final String KIND = "words";

  private final RangeIndex inner;
  private final Supplier<SessionLog> logs;
  private final Supplier<FolderLoad> loads;
  private final @Nullable DataFolder folder;
  private final @Nullable ClusterLog cluster;
  private final Stripes stripes;

  /**
   * Makes an index that has the entries of a folder, and logs there what changes it. The caller
   * closes the folder, after the index.
   *
   * @param options of any system: it need not be that of the entries' last index
   * @throws IllegalArgumentException if other processes may change the index, too
   * @throws pando.journal.DamagedFolderException if a file of the folder is damaged
   */
  public static DurableIndex open(DataFolder folder, IndexOptions options, Fabric fabric) {
    RangeIndex index = options.create(fabric);
    try {
      try (EntryStream entries = folder.entries()) {
        index.bulkLoad(new FolderWords(folder.toString(), entries), FolderWords.FILL);
      }
      folder.begin();
      return over(index, folder);
    } catch (Throwable e) {
      Closing.after(e, index::close);
      throw e;
    }
  }

  /**
   * Logs what changes an index from now on.
   *
   * @param index that has the entries of the folder
   * @param folder that has begun
   */
  static DurableIndex over(RangeIndex index, DataFolder folder) {
    return new DurableIndex(index, () -> new JournalLog(folder.log()), folder::load, folder);
  }

  /**
   * Logs changes of an index.
   *
   * @param logs makes the log of a session
   * @param loads begins a load
   * @throws IllegalArgumentException if other processes may change the index, too
   */
  DurableIndex(RangeIndex inner, Supplier<SessionLog> logs, Supplier<FolderLoad> loads) {
    this(inner, logs, loads, null);
  }

  private DurableIndex(
      RangeIndex inner,
      Supplier<SessionLog> logs,
      Supplier<FolderLoad> loads,
      @Nullable DataFolder folder) {
    if (inner.isShared()) {
      throw new IllegalArgumentException(
          "other processes may change the index: system=" + inner.name());
    }
    this.inner = inner;
    this.logs = logs;
    this.loads = loads;
    this.folder = folder;
    this.cluster = null;
    this.stripes = new Stripes();
  }

  /** Logs changes of the keys that this process serves, in a cluster. */
  DurableIndex(RangeIndex inner, ClusterLog cluster) {
    this.inner = inner;
    this.logs = cluster::session;
    this.loads =
        () -> {
          throw new IllegalStateException("a load goes to the pool, and not to the log");
        };
    this.folder = null;
    this.cluster = cluster;
    this.stripes = cluster.stripes;
  }

  @Override
  public DurableSession session() {
    return new DurableSession(
        inner.session(), stripes, logs.get(), cluster == null ? null : cluster.lease());
  }

  /**
   * {@inheritDoc}
   *
   * <p>The entries are written to a sorted file of the folder meanwhile, if there is one. Nobody
   * sees one before all are on the disk.
   *
   * @throws pando.journal.LogFullException if the disk has no room; nothing is loaded then
   * @throws pando.journal.LogFailedException if the log has failed
   */
  @Override
  public long bulkLoad(EntrySource entries, double fill) {
    long[] loaded = new long[1];
    if (cluster != null) {
      // The log must not have keys that were there before.
      return cluster.afterPass(() -> inner.bulkLoad(entries, fill));
    }
    stripes.alone(() -> loaded[0] = load(entries, fill));
    return loaded[0];
  }

  private long load(EntrySource entries, double fill) {
    long[] before = stripes.beginAll();
    boolean differs = false;
    try (FolderLoad load = loads.get()) {
      WrittenWords written = new WrittenWords(entries, load);
      long loaded;
      try {
        loaded = inner.bulkLoad(written, fill);
      } catch (Throwable e) {
        differs = mayHaveLoaded(written, e);
        throw e;
      }
      differs = true;
      finish(load);
      differs = false;
      return loaded;
    } finally {
      // If index and folder differ, the words stay BUSY: nobody reads what the folder lacks.
      if (!differs) {
        stripes.endAll(before);
      }
    }
  }

  /**
   * Makes the new entries count in the folder. The index has them by now: where that fails, the log
   * has failed.
   */
  private void finish(FolderLoad load) {
    try {
      load.finish();
    } catch (LogFullException e) {
      logs.get().fail(e);
      throw e;
    }
  }

  /** Returns whether a load that failed may have entries in the index: then the log fails. */
  private boolean mayHaveLoaded(WrittenWords written, Throwable failure) {
    boolean mayHave =
        UnknownOutcomeException.isSaidBy(failure)
            || (written.hasEnded() && mayHaveEntries(failure));
    if (mayHave) {
      logs.get().fail(failure);
    }
    return mayHave;
  }

  private boolean mayHaveEntries(Throwable failure) {
    try (Session session = inner.session()) {
      return session.first();
    } catch (Throwable e) {
      failure.addSuppressed(e);
      return true;
    }
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
    return cluster == null ? inner.partitions() : Optional.of(cluster.partitions());
  }

  @Override
  public void bury(int computeServer) {
    inner.bury(computeServer);
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
    if (folder != null) {
      FolderMeters.of(folder, to);
    }
    if (cluster != null) {
      cluster.meters(to);
    }
  }

  @Override
  public List<String> hindrances() {
    return folder == null ? List.of() : folder.hindrances();
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

  /** {@inheritDoc} In a cluster there are none: what the pool lacks is in the log. */
  @Override
  public Unwritten unwritten() {
    return cluster == null ? inner.unwritten() : Unwritten.NONE;
  }

  @Override
  public boolean isClosed() {
    return inner.isClosed();
  }

  /** {@inheritDoc} Changes that are under way are logged first. */
  @Override
  public void close() {
    if (cluster == null) {
      stripes.alone(inner::close);
    } else {
      cluster.close(inner::close);
    }
  }
}
