package pando.index.orca;

/** The caches of a compute server are too small for ORCA's directory of its records. */
public final class DirectoryTooLargeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  DirectoryTooLargeException(long cacheBytes, long directoryBytes, long needed) {
    super(
        "the cache is too small for the directory of a compute server: cache-bytes=%s, directoryBytes=%s, needed: cache-bytes=%s"
            .formatted(cacheBytes, directoryBytes, needed));
  }
}
