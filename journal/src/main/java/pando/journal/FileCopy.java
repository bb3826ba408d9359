package pando.journal;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Copies files from one disk to another. */
final class FileCopy {
  private static final int PIECE_BYTES = 1 << 20;

  private FileCopy() {}

  /** Copies a file; returns how many bytes it has. As {@link #copyStart}. */
  static long copy(Disk from, String name, Disk to) throws IOException {
    try (DiskFile source = from.open(name)) {
      long bytes = source.bytes();
      copy(source, name, bytes, to);
      return bytes;
    }
  }

  /**
   * Copies the first bytes of a file; in place of the rest the copy has zeros. Its bytes are on the
   * disk when this returns, its name is once the disk is forced. It may be the same disk.
   */
  static void copyStart(Disk from, String name, long count, Disk to) throws IOException {
    try (DiskFile source = from.open(name)) {
      copy(source, name, count, to);
    }
  }

  private static void copy(DiskFile source, String name, long count, Disk to) throws IOException {
    long bytes = source.bytes();
    try (DiskFile file = to.create(name + Manifest.NEW)) {
      ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES);
      for (long at = 0; at < count; at += piece.limit()) {
        piece.clear().limit((int) Math.min(PIECE_BYTES, count - at));
        if (source.read(at, piece) < piece.limit()) {
          throw new IOException("the file has become shorter: file=" + name);
        }
        file.write(at, piece.flip());
      }
      if (count < bytes) {
        file.write(bytes - 1, ByteBuffer.allocate(1));
      }
      file.force();
    }
    to.rename(name + Manifest.NEW, name);
  }
}
