package pando.durable;

import pando.index.Meters;
import pando.journal.DataFolder;
import pando.journal.Log;

/** What a data folder counts, and what is wrong with it. */
final class FolderMeters {
  private FolderMeters() {}

  /** Names the meters of a folder. */
  static void of(DataFolder folder, Meters to) {
    Log log = folder.log();
    to.count("pando.log.records", "Changes appended to the log.", log::records);
    to.count("pando.log.bytes", "Bytes by which the log has grown.", log::end);
    to.count("pando.log.syncs", "Times that the log was forced to the disk.", log::syncs);
    to.gauge(
        "pando.log.behind.bytes",
        "Bytes of the log that are not known to be on the disk.",
        () -> log.end() - log.synced());
    to.gauge(
        "pando.log.room.bytes",
        "Bytes that the log has left before it needs another segment.",
        log::room);
    to.gauge("pando.sorted.files", "Sorted files of the data folder.", folder::sortedFiles);
    to.gauge(
        "pando.sorted.entries",
        "Entries and removals in sorted files; entries of the same key count once in each.",
        folder::sortedEntries);
    to.count(
        "pando.merge.failures",
        "Merges of sorted files that have failed: the disk had no room, or a file is damaged.",
        folder::mergeFailures);
  }
}
