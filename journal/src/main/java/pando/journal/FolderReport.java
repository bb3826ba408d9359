package pando.journal;

import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * What {@link FolderCheck} has found.
 *
 * @param kind of the entries
 * @param codecs names of the codecs of keys and values, empty if there are none
 * @param cluster whose entries these are; zeros if it is none's
 * @param generation of the cluster; 0 if it is none's
 * @param sortedFiles number of sorted files
 * @param segments number of files of the log
 * @param bytes of all these files
 * @param entries that the folder has; 0 if there are problems
 * @param records of changes in the log that are not in sorted files yet; 0 if there are problems
 * @param end place in the log behind the last record; 0 if there are problems
 * @param isClosed whether the log was closed, so that no crash can have cut off its end
 * @param recordsBehind whole records behind the end of the log. They do not count, as a crash has
 *     lost something before them
 * @param problems what is wrong, with the file and the place; empty if nothing is
 * @param cutAt where {@link FolderRepair} can cut a log that is damaged in the middle
 */
public record FolderReport(
    String kind,
    String codecs,
    UUID cluster,
    long generation,
    int sortedFiles,
    int segments,
    long bytes,
    long entries,
    long records,
    long end,
    boolean isClosed,
    int recordsBehind,
    List<String> problems,
    OptionalLong cutAt) {
  /** Keeps a copy. */
  public FolderReport {
    problems = List.copyOf(problems);
  }

  /** Returns whether every byte is as it was written. */
  public boolean isWhole() {
    return problems.isEmpty();
  }
}
