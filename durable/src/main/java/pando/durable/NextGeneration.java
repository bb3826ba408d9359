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
  private final long number;

  private NextGeneration(HolderFolders folders, long number) {
    this.folders = folders;
    this.number = number;
  }

  /**
   * Opens the data folders, to begin with the newest one.
   *
   * @param options of the index
   * @param last the last generation that is known of the cluster; 0 if there was none
   * @throws DataFolderException if a memory server has no data folder or cannot use it, all folders
   *     are older than the last generation, or they are of different clusters
   * @throws IllegalStateException if one was begun, and not to its end, since the memory servers
   *     have started: they have to start again
   * @throws pando.fabric.PandoException if a memory server does not answer
   */
  public static NextGeneration ofNewestFolder(Fabric fabric, ServedOptions options, long last) {
    HolderFolders folders = new HolderFolders(fabric, kind(options));
    if (folders.generation() < last) {
      folders.close();
      throw new DataFolderException(
          ("the data folders have an older generation than the cluster had: start the memory server"
                  + " that has the newest one, or say which one counts (pando cluster rebuild"
                  + " --from): found=%s, last=%s")
              .formatted(folders.generation(), last));
    }
    return new NextGeneration(folders, folders.generation() + 1);
  }

  /**
   * Opens a data folder that a person has named, to begin with it whatever it has. The files of the
   * others are set aside.
   *
   * @param memoryServer that has the folder
   * @param cluster id of the cluster that begins so, the same in each attempt
   * @throws DataFolderException if a memory server has no data folder or cannot use it, or the one
   *     that is named has no entries
   * @throws pando.journal.DamagedFolderException if its entries cannot be read; nothing was changed
   * @throws IllegalStateException if one was begun, and not to its end, since the memory servers
   *     have started: they have to start again
   * @throws pando.fabric.PandoException if a memory server does not answer
   */
  public static NextGeneration ofFolder(
      Fabric fabric, ServedOptions options, long last, int memoryServer, UUID cluster) {
    HolderFolders folders = new HolderFolders(fabric, kind(options), memoryServer, cluster);
    return new NextGeneration(folders, Math.max(folders.generation(), last) + 1);
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
    folders.begin(number);
    return number;
  }

  @Override
  public void close() {
    folders.close();
  }
}
