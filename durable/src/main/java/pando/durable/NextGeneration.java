package pando.durable;

import java.util.UUID;
import pando.durable.holder.HolderFolders;
import pando.fabric.Fabric;
import pando.index.Partitioned;
import pando.index.RangeIndex;
import pando.index.ServedOptions;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.journal.DataFolderException;

/**
 * The next generation of a cluster whose memory servers have data folders: one ends with any memory
 * server, and the next begins with a new pool that has the entries of a folder. For one thread.
 */
public final class NextGeneration implements AutoCloseable {
  private static final String FOLDER = "of memory servers";

  private final HolderFolders folders;
  private final UUID cluster;
  private final long number;

  /**
   * Opens the data folders.
   *
   * @param options of the index
   * @param last the last generation that is known of the cluster; 0 if there was none
   * @throws DataFolderException if a memory server has no data folder or cannot use it, all folders
   *     are older than the last generation, or they are of different clusters
   * @throws pando.fabric.PandoException if a memory server does not answer
   */
  public NextGeneration(Fabric fabric, ServedOptions options, long last) {
    boolean isOfStrings = options instanceof ByteOptions;
    this.folders = new HolderFolders(fabric, isOfStrings ? DurableStrings.KIND : DurableIndex.KIND);
    this.cluster = folders.cluster();
    this.number = folders.generation() + 1;
    if (number <= last) {
      folders.close();
      throw new DataFolderException(
          "the data folders have an older generation than the cluster had: start the memory server"
              + " that has the newest one: found=%s, last=%s".formatted(number - 1, last));
    }
  }

  /**
   * Begins: an index gets all entries of the newest folder, and the folders take what is logged
   * from now on.
   *
   * @param index without entries, that no other process uses
   * @return the number of the generation
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
    folders.begin(cluster, number);
    return number;
  }

  @Override
  public void close() {
    folders.close();
  }
}
