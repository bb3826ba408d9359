package pando.fabric.wire;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What is read from files, and read anew when they have changed. Thread-safe. */
final class Reloaded<T> {
  private static final System.Logger LOG = System.getLogger(Reloaded.class.getName());

  private final List<Path> files;
  private final Supplier<T> reader;
  private List<Stamp> stamps;
  private T value;

  /** What distinguishes one content of a file from another. */
  private record Stamp(FileTime modified, long bytes, @Nullable Object identity) {
    static final Stamp MISSING = new Stamp(FileTime.fromMillis(0), -1, null);

    static Stamp of(Path file) {
      try {
        BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
        return new Stamp(found.lastModifiedTime(), found.size(), found.fileKey());
      } catch (IOException e) {
        return MISSING;
      }
    }
  }

  /**
   * Reads the files.
   *
   * @param reader throws {@link IllegalArgumentException} if what it reads is of no use
   */
  Reloaded(Supplier<T> reader, Path... files) {
    this.reader = reader;
    this.files = Arrays.asList(files.clone());
    // Before they are read, so that a change meanwhile is seen later.
    this.stamps = stamps();
    this.value = reader.get();
  }

  /** Returns what was read last; reads first if the files have changed. */
  synchronized T get() {
    List<Stamp> now = stamps();
    if (!now.equals(stamps)) {
      // Also if it fails, so that each change is tried, and reported, once.
      stamps = now;
      try {
        value = reader.get();
        LOG.log(Level.INFO, "read anew: files={0}", files);
      } catch (IllegalArgumentException e) {
        LOG.log(
            Level.WARNING,
            "changed files are of no use, the earlier content stays: {0}",
            e.getMessage());
      }
    }
    return value;
  }

  private List<Stamp> stamps() {
    return files.stream().map(Stamp::of).toList();
  }
}
