package pando.durable;

import java.util.UUID;
import pando.durable.holder.HolderFolders;
import pando.fabric.Fabric;
import pando.index.Partitioned;
import pando.index.RangeIndex;
import pando.index.ServedOptions;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;

/**
 * The next generation of a cluster whose memory servers have data folders: one ends with any memory
 * server, and the next begins with a new pool that has the entries of a folder. For one thread.
 */
public final class NextGeneration implements AutoCloseable {
  /** In place of a memory server: the newest folder counts. */
  public static final int NEWEST = HolderFolders.NEWEST;

  private static final String FOLDER = "of memory servers";

  private final HolderFolders folders;

  /**
   * Opens the data folders, to begin with the newest one, or with one that a person has named,
   * whatever that has. Then the files of the others are set aside.
   *
   * @param options of the index
   * @param last the last generation that is known of the cluster; 0 if there was none
   * @param from the memory server that has the folder; {@link #NEWEST} for the newest one
   * @param cluster id of the cluster that begins with a folder that is named, the same in each
   *     attempt
   * @param term grows from leader to leader, at least 0; memory servers refuse what an earlier one
   *     asks for
   * @throws pando.journal.DataFolderException if a memory server has no data folder, cannot use it,
   *     or serves a later leader; or without a name, all folders are older than the last
   *     generation, or they are of different clusters
   * @throws pando.journal.DamagedFolderException if a folder is damaged; nothing was changed
   * @throws pando.journal.EmptyFolderException if the folder that is named has no entries; nothing
   *     was changed
   * @throws IllegalStateException if one was begun, and not to its end, since the memory servers
   *     have started: they have to start again
   * @throws pando.fabric.PandoException if a memory server does not answer
   */
  public NextGeneration(
      Fabric fabric, ServedOptions options, long last, int from, UUID cluster, long term) {
    this.folders = new HolderFolders(fabric, kind(options), last, from, cluster, term);
  }

  private static String kind(ServedOptions options) {
    return options instanceof ByteOptions ? DurableStrings.KIND : DurableIndex.KIND;
  }

  /**
   * Begins: an index gets all entries of the folder, and all folders take what is logged from now
   * on.
   *
   * @param index without entries, that no other process uses
   * @return the number of the generation
   * @throws pando.journal.DamagedFolderException if the entries cannot be read
   * @throws pando.fabric.PandoException if it has not begun as a whole: all memory servers have to
   *     start again
   */
  public long begin(Partitioned index) {
    switch (index) {
      case RangeIndex words -> words.bulkLoad(new FolderWords(FOLDER, folders), FolderWords.FILL);
      case ByteIndex strings -> strings.load(new FolderStrings(FOLDER, folders), FolderWords.FILL);
      default -> throw new IllegalArgumentException("no index of entries: name=" + index.name());
    }
    // What is loaded is not logged: an heir must find it in the pool.
    index.flush();
    return folders.begin();
  }

  @Override
  public void close() {
    folders.close();
  }
}
