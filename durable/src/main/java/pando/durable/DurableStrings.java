package pando.durable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.memory.Closing;
import pando.index.LastError;
import pando.index.Meters;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.Unwritten;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteStrings;
import pando.journal.DataFolder;
import pando.journal.EntryStream;

/**
 * Byte strings that log what changes them: in a data folder, or, in a cluster, at memory servers.
 * All changes of theirs that are to last must go through here, and no other process may change the
 * same keys. Thread-safe.
 */
public final class DurableStrings implements ByteStrings {
  /** The kind of folders of byte strings: see {@link DataFolder#open}. */
  public static final String KIND = ByteOptions.SYSTEM;

  /**
   * The codecs of a folder whose keys are those of a door for clients of Redis: no map may change
   * them.
   */
  public static final String CODECS_OF_DOOR = "door";

  private final ByteStrings inner;
  private final @Nullable DataFolder folder;
  private final @Nullable ClusterLog cluster;
  private final Supplier<SessionLog> logs;
  private final Stripes stripes;

  /**
   * Makes byte strings that have the entries of a folder, and logs there what changes them. The
   * caller closes the folder, after them.
   *
   * @throws pando.journal.DamagedFolderException if a file of the folder is damaged
   */
  public static DurableStrings open(DataFolder folder, ByteOptions options, Fabric fabric) {
    ByteIndex index = ByteIndex.create(fabric, options);
    try {
      try (EntryStream entries = folder.entries()) {
        index.load(new FolderStrings(folder.toString(), entries), FolderWords.FILL);
      }
      folder.begin();
      return new DurableStrings(index, folder, () -> new JournalLog(folder.log()));
    } catch (Throwable e) {
      Closing.after(e, index::close);
      throw e;
    }
  }

  /**
   * Logs changes of byte strings.
   *
   * @param logs makes the log of a session
   */
  DurableStrings(ByteStrings inner, Supplier<SessionLog> logs) {
    this(inner, null, logs);
  }

  private DurableStrings(
      ByteStrings inner, @Nullable DataFolder folder, Supplier<SessionLog> logs) {
    this.inner = inner;
    this.folder = folder;
    this.cluster = null;
    this.logs = logs;
    this.stripes = new Stripes();
  }

  /** Logs changes of the keys that this process serves, in a cluster. */
  DurableStrings(ByteStrings inner, ClusterLog cluster) {
    this.inner = inner;
    this.folder = null;
    this.cluster = cluster;
    this.logs = cluster::session;
    this.stripes = cluster.stripes;
  }

  /**
   * Returns the index that has the entries: for what it counts and holds, and for entries beside
   * them that the folder is not to have. What is changed here is not in the log.
   */
  public ByteIndex index() {
    return (ByteIndex) inner;
  }

  /** Returns the folder that has the log. */
  public DataFolder folder() {
    DataFolder its = folder;
    if (its == null) {
      throw new IllegalStateException("the log is in no folder");
    }
    return its;
  }

  @Override
  public DurableByteSession session() {
    return new DurableByteSession(
        inner, stripes, logs.get(), cluster == null ? null : cluster.lease());
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
  public boolean isRemote() {
    return inner.isRemote();
  }

  @Override
  public int keyBytesMax() {
    return inner.keyBytesMax();
  }

  @Override
  public int valueBytesMax() {
    return inner.valueBytesMax();
  }

  @Override
  public long sizeEstimate() {
    return inner.sizeEstimate();
  }

  @Override
  public long sizeEstimate(MemorySegment from, @Nullable MemorySegment to) {
    return inner.sizeEstimate(from, to);
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
  public VerbCounters verbs() {
    return inner.verbs();
  }

  @Override
  public Optional<LastError> lastError() {
    return inner.lastError();
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
