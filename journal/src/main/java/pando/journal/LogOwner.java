package pando.journal;

import java.io.IOException;

/**
 * What a log asks of its folder, from threads of its own. {@link #sort} is called for one segment
 * after the other, in ascending order, once {@link #begin} has returned.
 */
interface LogOwner {
  /**
   * Makes all that was logged before independent of the segments it was found in. It is called
   * until it does not fail.
   */
  void begin() throws IOException;

  /**
   * Notes that the first segment is on the disk: from now on it must be found. It is called behind
   * {@link #begin}, until it does not fail.
   */
  void begun() throws IOException;

  /** Makes all changes of a segment, which are on the disk, independent of the segment. */
  void sort(LogSegment full) throws IOException;
}
