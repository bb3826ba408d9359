package pando.journal;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** A file in memory, which remembers what was asked of it. Not thread-safe. */
final class BytesFile implements DiskFile {
  private byte[] content;
  private int most;
  private int forced;
  private boolean isClosed;

  BytesFile(byte... content) {
    this.content = content.clone();
  }

  /** Returns a copy of all bytes. */
  byte[] content() {
    return content.clone();
  }

  /** Returns the most bytes that were read at once. */
  int most() {
    return most;
  }

  /** Returns how many bytes the file had when it was last forced. */
  int forced() {
    return forced;
  }

  boolean isClosed() {
    return isClosed;
  }

  @Override
  public long bytes() {
    return content.length;
  }

  @Override
  public int read(long at, ByteBuffer into) {
    most = Math.max(most, into.remaining());
    int count = Math.clamp(content.length - at, 0, into.remaining());
    into.put(content, (int) Math.min(at, content.length), count);
    return count;
  }

  @Override
  public void write(long at, ByteBuffer from) {
    int end = (int) at + from.remaining();
    content = Arrays.copyOf(content, Math.max(content.length, end));
    from.get(content, (int) at, from.remaining());
  }

  @Override
  public MemorySegment map() {
    return MemorySegment.ofArray(content);
  }

  @Override
  public void force() {
    forced = content.length;
  }

  @Override
  public void close() {
    isClosed = true;
  }
}
