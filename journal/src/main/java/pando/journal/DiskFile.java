package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** An open file of a {@link Disk}. Thread-safe. A second {@link #close} does nothing. */
interface DiskFile extends AutoCloseable {
  /** Returns the number of its bytes. */
  long bytes() throws IOException;

  /**
   * Reads bytes at a place until the buffer is full, or the file ends.
   *
   * @return how many were read, 0 at the end of the file
   */
  int read(long at, ByteBuffer into) throws IOException;

  /** Writes all bytes of a buffer at a place. */
  void write(long at, ByteBuffer from) throws IOException;

  /**
   * Maps all bytes of the file, to be read and written until it is closed. A page that the disk
   * cannot take makes the access end in an {@link InternalError}.
   */
  MemorySegment map() throws IOException;

  /**
   * Forces all bytes to the disk, as they are now, and how many there are.
   *
   * @throws ForceFailedException if the disk has not kept them
   */
  void force() throws IOException;

  /** Closes the file and its mapping. */
  @Override
  void close();
}
