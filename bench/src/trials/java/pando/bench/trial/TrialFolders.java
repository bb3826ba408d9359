package pando.bench.trial;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.durable.ClusterFolder;
import pando.durable.DurableIndex;
import pando.durable.DurableStrings;
import pando.fabric.memory.Closing;
import pando.fabric.server.CallHandler;
import pando.index.Systems;
import pando.journal.DataFolder;
import pando.journal.EntryStream;
import pando.journal.EntryWords;
import pando.journal.FolderLoad;
import pando.journal.FolderReader;
import pando.journal.LogOptions;
import pando.journal.SyncPolicy;

/**
 * The data folders of a trial's memory servers: real ones, on the disk. A memory server that is
 * killed has there all that it has appended, as the system has it.
 */
final class TrialFolders implements AutoCloseable {
  /** Small, as a segment is filled with zeros. */
  private static final LogOptions OPTIONS =
      LogOptions.defaults().withSync(SyncPolicy.NO).withSegmentBytes(512 << 10);

  private static final String MANIFEST = "manifest";

  private final boolean strings;
  private final Path directory;
  private final RealThread files = new RealThread();
  private final Path[] paths = new Path[ClusterFolder.FOLDERS_MAX];
  private final @Nullable ClusterFolder[] open = new ClusterFolder[ClusterFolder.FOLDERS_MAX];
  private final @Nullable CallHandler[] handlers = new CallHandler[ClusterFolder.FOLDERS_MAX];
  private int copies;
  private boolean isDiskLost;
  private volatile boolean hasFailed;

  /**
   * Makes folders that nothing is in.
   *
   * @param strings whether entries are byte strings, those of {@link LongsAsBytes}
   */
  TrialFolders(boolean strings) {
    this.strings = strings;
    try {
      this.directory = Files.createTempDirectory("pando-trial");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Arrays.setAll(paths, number -> directory.resolve(String.valueOf(number)));
  }

  /** Returns the handlers of all memory servers; requests for a folder go to that of the server. */
  List<CallHandler> handlers() {
    List<CallHandler> all = Systems.handlers();
    return all.stream()
        .map(handler -> handler.function() == ClusterFolder.function() ? new Each() : handler)
        .toList();
  }

  /** Has each memory server's requests served by its own folder. */
  private final class Each implements CallHandler {
    @Override
    public int function() {
      return ClusterFolder.function();
    }

    @Override
    public int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes) {
      CallHandler handler = Objects.requireNonNull(handlers[server]);
      return files.call(() -> handler.handle(server, dram, message, requestBytes));
    }
  }

  static boolean has(int server) {
    return server < ClusterFolder.FOLDERS_MAX;
  }

  /** Puts entries into the folder of a memory server that does not run. */
  void fill(int server, Map<Long, Long> entries) {
    String kind = strings ? DurableStrings.KIND : DurableIndex.KIND;
    try (DataFolder folder = DataFolder.open(paths[server], kind, OPTIONS)) {
      folder.begin();
      try (FolderLoad load = folder.load()) {
        entries.forEach((key, value) -> append(load, key, value));
        load.finish();
      }
    }
  }

  private void append(FolderLoad load, long key, long value) {
    if (strings) {
      load.append(LongsAsBytes.key(key), LongsAsBytes.value(value));
    } else {
      load.append(key, value);
    }
  }

  /** Opens the folder of a memory server that starts, if it has one. */
  void open(int server) {
    if (has(server)) {
      ClusterFolder folder = new ClusterFolder(paths[server], OPTIONS, this::fail);
      open[server] = folder;
      handlers[server] = folder.handlers().getLast();
    }
  }

  private void fail() {
    hasFailed = true;
  }

  /** Returns whether a log could not be written. */
  boolean hasFailed() {
    return hasFailed;
  }

  /** Closes the folder of a memory server that has ended. */
  void close(int server) {
    if (has(server)) {
      ClusterFolder folder = Objects.requireNonNull(open[server]);
      files.run(folder::close);
    }
  }

  /** Leaves the folder of a memory server as it is when its process is killed. */
  void kill(int server) {
    if (has(server)) {
      files.run(() -> copy(server));
    }
  }

  /** Loses the disk of a memory server's folder, if it has one. */
  void lose(int server) {
    if (has(server)) {
      isDiskLost = true;
      paths[server] = another(server);
    }
  }

  /** Returns whether a disk was lost. */
  boolean isDiskLost() {
    return isDiskLost;
  }

  private Path another(int server) {
    return directory.resolve(server + "-" + ++copies);
  }

  private boolean isMade(int server) {
    return DataFolder.kindOf(paths[server]).isPresent();
  }

  private void copy(int server) {
    if (isMade(server)) {
      Path copy = another(server);
      try {
        copyFiles(paths[server], copy);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      paths[server] = copy;
    }
  }

  /** Copies what is there at one moment, as threads of the folder go on. */
  private static void copyFiles(Path from, Path to) throws IOException {
    Files.createDirectory(to);
    byte[] manifest;
    do {
      manifest = Files.readAllBytes(from.resolve(MANIFEST));
      for (File file : Objects.requireNonNull(from.toFile().listFiles(File::isFile))) {
        try {
          Files.copy(file.toPath(), to.resolve(file.getName()), REPLACE_EXISTING);
        } catch (NoSuchFileException e) {
          // It was merged with others: the manifest is another one.
          Files.deleteIfExists(to.resolve(file.getName()));
        }
      }
    } while (!Arrays.equals(manifest, Files.readAllBytes(from.resolve(MANIFEST))));
    Files.write(to.resolve(MANIFEST), manifest);
  }

  /** Returns the entries that the folder of a memory server has, which does not run. */
  Map<Long, Long> entries(int server) {
    Map<Long, Long> found = new TreeMap<>();
    if (!isMade(server)) {
      return found; // The run ended early.
    }
    try (FolderReader folder = FolderReader.open(paths[server]);
        EntryStream entries = folder.entries()) {
      while (entries.next()) {
        found.put(key(entries), value(entries));
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long key(EntryStream entries) {
    return strings ? LongsAsBytes.key(entries.key()) : EntryWords.key(entries.key());
  }

  private long value(EntryStream entries) {
    return strings ? LongsAsBytes.value(entries.value()) : EntryWords.value(entries.value());
  }

  /** Removes the folders. Where a run has ended early, memory servers have them open. */
  @Override
  public void close() {
    List<Runnable> steps = new ArrayList<>();
    for (ClusterFolder folder : open) {
      if (folder != null) {
        steps.add(folder::close);
      }
    }
    Closing.all(() -> files.run(() -> Closing.all(steps)), files::close, this::remove);
  }

  private void remove() {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
