package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** Changes bytes of folders, as disks do. */
final class FolderDamage {
  private FolderDamage() {}

  /** Returns the names of all segments, in ascending order. */
  static List<String> segments(Disk disk) throws IOException {
    return disk.list().stream().filter(name -> LogSegment.firstOf(name) >= 0).sorted().toList();
  }

  /** Returns the name of the longest sorted file. */
  static String sorted(Disk disk) throws IOException {
    String longest = "";
    long most = 0;
    for (String name : disk.list()) {
      try (DiskFile file = disk.open(name)) {
        if (Manifest.Sorted.isName(name) && file.bytes() > most) {
          longest = name;
          most = file.bytes();
        }
      }
    }
    return longest;
  }

  /** Turns a bit over. */
  static void at(Disk disk, String name, long at) throws IOException {
    try (DiskFile file = disk.open(name)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      assertThat(file.read(at, one)).isOne();
      one.put(0, (byte) (one.get(0) ^ 1));
      file.write(at, one.flip());
      file.force();
    }
  }

  /** Damages the third record of the first segment; returns its place in the log. */
  static long inTheMiddleOfTheLog(Disk disk) throws IOException {
    String name = segments(disk).getFirst();
    long at = LogSegment.HEADER_BYTES;
    try (DiskFile file = disk.open(name)) {
      for (int i = 0; i < 2; i++) {
        ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
        assertThat(file.read(at, length)).isEqualTo(Integer.BYTES);
        at += Integer.reverseBytes(length.getInt(0));
      }
    }
    at(disk, name, at + RecordFormat.KEY_BYTES);
    return LogSegment.firstOf(name) + at;
  }
}
