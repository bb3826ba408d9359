package pando.journal;

import java.io.IOException;

/** What a log asks of its folder. Its keeper calls this, one call at a time. */
interface LogOwner {
  /**
   * Makes all that was logged before independent of the segments it was found in. It is called
   * until it does not fail.
   */
  void begin() throws IOException;

  /** Makes all changes of a segment, which are on the disk, independent of the segment. */
  void sort(LogSegment full) throws IOException;
}
