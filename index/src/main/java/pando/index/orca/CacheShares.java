package pando.index.orca;

import org.jspecify.annotations.Nullable;

/**
 * Which caches have the memory of a process's compute servers.
 *
 * @param recordBytes memory for records, in bytes
 * @param deltaBytes memory for deltas, in bytes
 * @param imageBytes memory for images, in bytes
 * @param directoryBytes what the directories take, in bytes; more than what is set aside where the
 *     caches have their least already, so that they take more than {@code cache-bytes}
 * @param setAsideBytes memory that is set aside for the directories, in bytes
 * @param moved how often a part of the memory went from one to another, or was set aside or given
 *     back
 * @param failed how often that failed; the memory stayed as it was
 * @param lastFailure why it failed last at one of them, {@code null} if it never has
 */
public record CacheShares(
    long recordBytes,
    long deltaBytes,
    long imageBytes,
    long directoryBytes,
    long setAsideBytes,
    long moved,
    long failed,
    @Nullable Throwable lastFailure) {
  static final CacheShares NONE = new CacheShares(0, 0, 0, 0, 0, 0, 0, null);

  CacheShares plus(CacheShares other) {
    return new CacheShares(
        recordBytes + other.recordBytes,
        deltaBytes + other.deltaBytes,
        imageBytes + other.imageBytes,
        directoryBytes + other.directoryBytes,
        setAsideBytes + other.setAsideBytes,
        moved + other.moved,
        failed + other.failed,
        other.lastFailure == null ? lastFailure : other.lastFailure);
  }
}
