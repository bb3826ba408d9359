package pando.index.orca;

import pando.index.TaskCounts;

/**
 * Which caches have the memory of a process's compute servers.
 *
 * @param recordBytes memory for records, in bytes
 * @param deltaBytes memory for deltas, in bytes
 * @param imageBytes memory for images and filters, in bytes
 * @param directoryBytes what the directories take, in bytes; more than what is set aside where the
 *     caches have their least already, so that they take more than {@code cache-bytes}
 * @param setAsideBytes memory that is set aside for the directories, in bytes
 * @param moves how moving memory has gone: parts that went from one cache to another, were set
 *     aside for a directory, or given back
 */
public record CacheShares(
    long recordBytes,
    long deltaBytes,
    long imageBytes,
    long directoryBytes,
    long setAsideBytes,
    TaskCounts moves) {
  static final CacheShares NONE = new CacheShares(0, 0, 0, 0, 0, TaskCounts.NONE);

  CacheShares plus(CacheShares other) {
    return new CacheShares(
        recordBytes + other.recordBytes,
        deltaBytes + other.deltaBytes,
        imageBytes + other.imageBytes,
        directoryBytes + other.directoryBytes,
        setAsideBytes + other.setAsideBytes,
        moves.plus(other.moves));
  }
}
