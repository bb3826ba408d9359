package pando.journal;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import pando.fabric.memory.Closing;

/**
 * The segments that a folder has when it is opened, and where their records end: at the first place
 * without a whole record. What is behind was never acknowledged as being on the disk, or the disk
 * has lost it. So if a record says that the log was on the disk beyond that place, the log is
 * damaged in the middle.
 *
 * <pre>
 *   | a | b | SYNCED behind b | c |///| d |     ends behind c; d does not count
 *   | a |///| SYNCED behind b | c |             damaged in the middle: b was on the disk
 * </pre>
 *
 * <p>A segment is missing if another one begins behind it, if the one before it is full (as the
 * next one is there before that), or if the manifest says that the log has begun where none is.
 */
final class LogTail implements AutoCloseable {
  private final Disk disk;

  /** All segments; records are in the first of them. */
  private final List<LogSegment> segments = new ArrayList<>();

  private final List<Part> parts = new ArrayList<>();
  private long behind;
  private boolean isClosed;

  /** Whether the last record says that the log was closed. */
  private boolean saysClosed;

  /**
   * The records of a segment.
   *
   * @param end place in the segment behind the last one
   */
  record Part(LogSegment segment, int end) {
    /** Returns the place in the log behind the last record. */
    long lsn() {
      return segment.first() + end;
    }
  }

  private LogTail(Disk disk, long from) {
    this.disk = disk;
    this.behind = from;
  }

  /**
   * Opens the segments of a folder from where its log begins. Each is forced before it is read:
   * after a process was killed, or a force has failed, its pages may be in memory alone.
   *
   * @throws DamagedFolderException if one is missing, or the log is damaged
   */
  static LogTail open(Disk disk, Manifest manifest) throws IOException {
    return open(disk, manifest, true);
  }

  /**
   * As {@link #open(Disk, Manifest)}, to read the folder and not to change it. Another process may
   * append to the log meanwhile.
   */
  static LogTail view(Disk disk, Manifest manifest) throws IOException {
    return open(disk, manifest, false);
  }

  private static LogTail open(Disk disk, Manifest manifest, boolean forces) throws IOException {
    while (true) {
      LogTail tail = read(disk, manifest, forces);
      if (!tail.lacksNext(manifest)) {
        return tail;
      }
      tail.close();
      String next = LogSegment.nameOf(tail.behind);
      if (!disk.list().contains(next)) { // Else another process has made it meanwhile.
        throw new DamagedFolderException(
            "a segment of the log is missing: file=%s, folder=%s".formatted(next, disk),
            tail.behind);
      }
    }
  }

  private static LogTail read(Disk disk, Manifest manifest, boolean forces) throws IOException {
    LogTail tail = new LogTail(disk, manifest.logFrom());
    try {
      tail.openSegments(manifest);
      for (LogSegment segment : forces ? tail.segments : List.<LogSegment>of()) {
        segment.force();
      }
      tail.findRecords();
      return tail;
    } catch (Throwable e) {
      Closing.after(e, tail::close);
      throw e;
    }
  }

  /** Returns where the segments that count begin, in ascending order. */
  static SortedSet<Long> firsts(Disk disk, Manifest manifest) throws IOException {
    TreeSet<Long> firsts = new TreeSet<>();
    for (String name : disk.list()) {
      firsts.add(LogSegment.firstOf(name));
    }
    return firsts.tailSet(manifest.logFrom());
  }

  private void openSegments(Manifest manifest) throws IOException {
    for (long first : firsts(disk, manifest)) {
      if (first != behind) {
        throw new DamagedFolderException(
            "a segment of the log is missing: file=%s, folder=%s, next=%s"
                .formatted(LogSegment.nameOf(behind), disk, LogSegment.nameOf(first)),
            behind);
      }
      LogSegment segment = LogSegment.open(disk, LogSegment.nameOf(first), manifest.id());
      segments.add(segment);
      behind = segment.behind();
    }
  }

  /**
   * Finds the records, after it has found how far the log was on the disk: a log that grows
   * meanwhile has at least the records up to there.
   */
  private void findRecords() {
    long synced = 0;
    String witness = "";
    for (LogSegment segment : segments) {
      long its = new RecordWalk(segment).synced();
      if (its > synced) {
        synced = its;
        witness = segment.name();
      }
    }
    VarHandle.acquireFence();
    for (LogSegment segment : segments) {
      RecordWalk walk = new RecordWalk(segment);
      walk.toEnd();
      Part part = new Part(segment, walk.end());
      parts.add(part);
      saysClosed = walk.hasRecord() && walk.kind() == RecordFormat.CLOSED;
      isClosed = walk.hasRecord() ? saysClosed : parts.size() == 1;
      if (part.end() < segment.bytes()) {
        checkEnd(part, synced, witness);
        return;
      }
    }
  }

  private void checkEnd(Part last, long synced, String witness) {
    if (synced > last.lsn()) {
      throw new DamagedFolderException(
          ("the log is damaged in the middle: file=%s, place in it=%s, folder=%s; %s says that all"
                  + " was on the disk up to place %x, which is %s bytes more")
              .formatted(
                  last.segment().name(), last.end(), disk, witness, synced, synced - last.lsn()),
          last.lsn());
    }
  }

  /** Returns whether there must be a segment behind all that were found. */
  private boolean lacksNext(Manifest manifest) {
    return segments.isEmpty() ? manifest.hasBegun() : parts.getLast().lsn() == behind;
  }

  /** Returns the segments that have records, in ascending order. */
  List<Part> parts() {
    return parts;
  }

  /** Returns what each segment has from a place in the log on, oldest first. */
  List<EntryStream> entries(long from) {
    List<EntryStream> entries = new ArrayList<>();
    for (Part part : parts) {
      if (part.segment().first() >= from) {
        entries.add(RecordWalk.changes(part.segment(), part.end()).sorted());
      }
    }
    return entries;
  }

  /** Returns the place behind the last record. */
  long end() {
    return parts.isEmpty() ? behind : parts.getLast().lsn();
  }

  /** Returns whether the log was closed: it has a record that says so, or no record at all. */
  boolean isClosed() {
    return parts.isEmpty() || isClosed;
  }

  /** Returns whether the log has a record that says that it was closed, or there is no log. */
  boolean saysClosed() {
    return parts.isEmpty() || saysClosed;
  }

  /**
   * Returns how many whole records are behind the end: a crash has lost something before them, so
   * they do not count.
   */
  int recordsBehind() {
    int count = 0;
    for (LogSegment segment : segments) {
      int from = Math.clamp(end() - segment.first(), LogSegment.HEADER_BYTES, segment.bytes());
      count += new RecordWalk(segment).countBehind(from);
    }
    return count;
  }

  /** Returns the place behind all segments. */
  long behind() {
    return behind;
  }

  /** Removes all segments. */
  void remove() throws IOException {
    for (LogSegment segment : segments) {
      segment.remove(disk);
    }
  }

  @Override
  public void close() {
    Closing.all(segments.stream().<Runnable>map(segment -> segment::close).toList());
  }
}
