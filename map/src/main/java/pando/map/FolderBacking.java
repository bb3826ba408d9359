package pando.map;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.durable.DurableIndex;
import pando.durable.DurableStrings;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.index.IndexOptions;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteStrings;
import pando.index.orca.OrcaOptions;
import pando.journal.DataFolder;
import pando.journal.FolderBackup;
import pando.journal.Log;
import pando.journal.LogOptions;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A data folder, and an index in this process that has its entries. A folder that was there has its
 * kind: words or byte strings. A new one gets it from the first map: it is of words if keys and
 * values are, and the map has no name.
 */
final class FolderBacking implements Backing {
  /** How long a backup is tried again while the folder changes too fast. */
  private static final Duration BACKUP_TIMEOUT = Duration.ofMinutes(1);

  private final Path path;
  private final LogOptions log;
  private final Fabric fabric;
  private final IndexOptions options;

  /** What is closed, in this order. */
  private final List<Runnable> closings = new ArrayList<>();

  private @Nullable DataFolder folder;

  /** The index, if it is one of byte strings. */
  private @Nullable DurableStrings strings;

  /** Takes a pool; opens the folder, if there is one. */
  FolderBacking(Path path, LogOptions log, Fabric fabric, IndexOptions options) {
    this.path = path;
    this.log = log;
    this.fabric = fabric;
    this.options = options;
    closings.add(fabric::close);
    try {
      DataFolder.kindOf(path).ifPresent(this::folder);
    } catch (Throwable e) {
      Closing.after(e, fabric::close);
      throw e;
    }
  }

  private DataFolder folder(String kind) {
    DataFolder opened = folder;
    if (opened == null) {
      opened = DataFolder.open(path, kind, log);
      folder = opened;
      closings.addFirst(opened::close);
    }
    return opened;
  }

  @Override
  public <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values) {
    DataFolder opened = folder;
    boolean isOfWords =
        opened == null
            ? CodecWords.fit(keys) && CodecWords.fit(values)
            : opened.kind().equals(DurableIndex.KIND);
    checkIsOfMaps(opened);
    String codecs = keys.name() + " " + values.name();
    if (opened != null && !opened.codecs().isEmpty() && !opened.codecs().equals(codecs)) {
      throw new IllegalArgumentException(
          "the map without a name has other codecs: folder=%s, codecs=%s, given=%s"
              .formatted(path, opened.codecs(), codecs));
    }
    PandoMap<K, V> map =
        isOfWords ? mapOfWords(keys, values) : PandoMap.of(strings(), keys, values);
    DataFolder begun = folder;
    if (begun != null && begun.codecs().isEmpty()) {
      begun.setCodecs(codecs);
    }
    return map;
  }

  private void checkIsOfMaps(@Nullable DataFolder opened) {
    if (opened != null && opened.codecs().equals(DurableStrings.CODECS_OF_DOOR)) {
      throw new IllegalArgumentException(
          "the folder has the keys of a door for clients of Redis; open another one, or run pando"
              + " serve: folder="
              + path);
    }
  }

  private <K, V> PandoMap<K, V> mapOfWords(KeyCodec<K> keys, ValueCodec<V> values) {
    CodecWords.ofKeys(keys, options.system());
    WordMapIndex.checkValuesOfFolder(values);
    DurableIndex index = DurableIndex.open(folder(DurableIndex.KIND), options, fabric);
    closings.addFirst(index::close);
    return PandoMap.of(index, keys, values);
  }

  @Override
  public ByteStrings strings() {
    DurableStrings opened = strings;
    if (opened == null) {
      ByteOptions bytes = PoolBacking.stringOptions(orca());
      opened = DurableStrings.open(folder(stringsKind()), bytes, fabric);
      closings.addFirst(opened::close);
      strings = opened;
    }
    return opened;
  }

  /** Returns the kind of byte strings, if the folder is of that kind or of none. */
  private String stringsKind() {
    DataFolder opened = folder;
    checkIsOfMaps(opened);
    if (opened != null && !opened.kind().equals(DurableStrings.KIND)) {
      throw new IllegalStateException(
          "the folder has an index of words, which has one map, without a name: folder=" + path);
    }
    return DurableStrings.KIND;
  }

  private OrcaOptions orca() {
    if (options instanceof OrcaOptions orca) {
      return orca;
    }
    throw new IllegalStateException(
        "byte strings, which names and longer keys or values need, are made with %s alone: system=%s"
            .formatted(Systems.DEFAULT, options.system()));
  }

  @Override
  public void sync() {
    DataFolder opened = folder;
    if (opened != null) {
      Log begun = opened.log();
      begun.awaitSynced(begun.end());
    }
  }

  @Override
  public void backup(Path to) {
    sync();
    FolderBackup.Report _ = FolderBackup.take(path, to, BACKUP_TIMEOUT);
  }

  @Override
  public void close() {
    Closing.all(closings);
  }
}
