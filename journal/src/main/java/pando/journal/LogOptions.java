package pando.journal;

import org.jspecify.annotations.Nullable;

/**
 * How a folder's log is kept. Immutable.
 *
 * @param sync when a change is acknowledged
 * @param segmentBytes of a file of the log, a multiple of 4,096 from {@value #SEGMENT_BYTES_MIN}
 */
public record LogOptions(SyncPolicy sync, int segmentBytes) {
  /** Least size of a segment in bytes. */
  public static final int SEGMENT_BYTES_MIN = 64 << 10;

  private static final int SEGMENT_BYTES_MAX = 1 << 30;
  private static final int SEGMENT_BYTES = 64 << 20;

  /** Checks the size. */
  public LogOptions {
    if (segmentBytes < SEGMENT_BYTES_MIN
        || segmentBytes > SEGMENT_BYTES_MAX
        || segmentBytes % RecordFormat.PAGE != 0) {
      throw new IllegalArgumentException(
          "no size of a segment: segmentBytes=%s, least=%s, greatest=%s, a multiple of %s"
              .formatted(segmentBytes, SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX, RecordFormat.PAGE));
    }
  }

  /** Returns the options of a folder for which nothing else is asked: {@code everysec}, 64 MiB. */
  public static LogOptions defaults() {
    return new LogOptions(SyncPolicy.EVERYSEC, SEGMENT_BYTES);
  }

  /**
   * Returns the defaults with a policy.
   *
   * @param sync its name; {@code null} where nobody has chosen one
   * @throws IllegalArgumentException if there is no such policy
   */
  public static LogOptions ofSync(@Nullable String sync) {
    return sync == null ? defaults() : defaults().withSync(SyncPolicy.named(sync));
  }

  /** Returns these options with another policy. */
  public LogOptions withSync(SyncPolicy policy) {
    return new LogOptions(policy, segmentBytes);
  }

  /** Returns these options with another size of segments. */
  public LogOptions withSegmentBytes(int bytes) {
    return new LogOptions(sync, bytes);
  }

  /**
   * Returns the greatest number of bytes of a change, as {@link RecordBuilder#bytes} counts: 20 MiB
   * with segments of 64 MiB.
   */
  public int recordBytesMax() {
    return segmentBytes / 16 * 5;
  }
}
