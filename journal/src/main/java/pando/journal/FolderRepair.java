package pando.journal;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts a log that is damaged in the middle, so that the folder can be opened again. What is cut off
 * is lost to it, and kept beside: the segments that had it, as they were.
 */
public final class FolderRepair {
  /*
   * First all segments that have something behind the cut are copied into a folder of their own.
   * Then those that lie behind it are removed, the last one first, and the one that it goes through
   * is replaced. A cut between two gets an empty one behind it, as one that is full has a next one.
   * Wherever that ends, the log is still damaged at the same place, or it is cut there, and what was
   * cut is in the copies; so it can be done again.
   */

  private static final String KEPT = "cut-";

  /**
   * What was cut.
   *
   * @param at place in the log, up to which the folder has all changes
   * @param segments files of the log that had something behind it
   * @param records whole ones that were found behind it
   * @param bytes of the log from there to the last of its files
   * @param kept folder that has these files
   */
  public record Cut(long at, int segments, long records, long bytes, Path kept) {}

  private FolderRepair() {}

  /**
   * Cuts a damaged log.
   *
   * @param at the place that {@link DamagedFolderException#cutAt} names
   * @throws IllegalArgumentException if there is no data folder, if the log is not damaged, or if
   *     it is damaged elsewhere
   * @throws DamagedFolderException if it cannot be cut: the manifest is damaged, or a newer Pando
   *     wrote it
   * @throws DataFolderException if it is in use, or the system does not let this process change it
   */
  public static Cut cut(Path folder, long at) {
    return FolderAccess.locked(
        folder,
        false,
        disk -> {
          checkPlace(disk, at);
          Path kept = FolderDisk.make(folder.resolve(KEPT + Long.toHexString(at)));
          return cut(disk, at, new FolderDisk(kept), kept);
        });
  }

  /** As {@link #cut(Path, long)}, where a second disk keeps what is cut. */
  static Cut cut(Disk disk, long at, Disk kept) throws IOException {
    checkPlace(disk, at);
    return cut(disk, at, kept, Path.of(kept.toString()));
  }

  private static void checkPlace(Disk disk, long at) throws IOException {
    Manifest manifest = FolderAccess.manifest(disk);
    try (LogTail tail = LogTail.view(disk, manifest)) {
      throw new IllegalArgumentException(
          "the log is not damaged, nothing is cut: folder=%s, end=%x".formatted(disk, tail.end()));
    } catch (DamagedFolderException e) {
      long place = e.cutAt().orElseThrow(() -> e);
      if (place != at) {
        throw new IllegalArgumentException(
            "the log is damaged at another place: folder=%s, given=%x, damaged at=%x"
                .formatted(disk, at, place),
            e);
      }
    }
  }

  private static Cut cut(Disk disk, long at, Disk kept, Path keptPath) throws IOException {
    Manifest manifest = FolderAccess.manifest(disk);
    List<Long> firsts = new ArrayList<>();
    long records = 0;
    long bytes = 0;
    boolean isBetween = true;
    for (long first : LogTail.firsts(disk, manifest)) {
      String name = LogSegment.nameOf(first);
      long left = first + disk.bytes(name) - Math.max(first, at);
      if (left > 0 || first >= at) {
        FileCopy.copy(disk, name, kept);
        firsts.add(first);
        bytes += left;
        records += recordsBehind(disk, name, manifest, at);
        isBetween &= first >= at;
      }
    }
    kept.force();
    for (long first : firsts.reversed()) {
      String name = LogSegment.nameOf(first);
      if (first < at) {
        FileCopy.copyStart(disk, name, at - first, disk);
      } else {
        disk.remove(name);
      }
      disk.force();
    }
    if (isBetween) {
      LogSegment.create(disk, manifest.id(), at, LogOptions.SEGMENT_BYTES_MIN).close();
    }
    return new Cut(at, firsts.size(), records, bytes, keptPath);
  }

  private static int recordsBehind(Disk disk, String name, Manifest manifest, long at)
      throws IOException {
    try (LogSegment segment = LogSegment.open(disk, name, manifest.id())) {
      long from = Math.max(at - segment.first(), LogSegment.HEADER_BYTES);
      return new RecordWalk(segment).countBehind((int) from);
    } catch (DamagedFolderException e) {
      return 0; // Without its header no record of it can be told from other bytes.
    }
  }
}
