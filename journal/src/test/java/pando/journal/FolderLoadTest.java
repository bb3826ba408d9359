package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** A folder whose entries are written anew. */
class FolderLoadTest {
  private final FaultyDisk disk = new FaultyDisk();

  private DataFolder open() throws IOException {
    return DataFolder.open(disk, "byte-strings", LogOptions.defaults(), () -> {});
  }

  private static MemorySegment bytes(int number) {
    return MemorySegment.ofArray(new byte[] {(byte) number});
  }

  @Test
  void shouldForgetWhatIsRemovedRightAfterTheFirstLoad() throws IOException {
    try (DataFolder folder = open()) {
      Log log = folder.begin();
      try (FolderLoad load = folder.load()) {
        load.append(bytes(1), bytes(1));
        load.append(bytes(2), bytes(2));
        load.finish();
      }
      RecordBuilder removal = new RecordBuilder().remove(bytes(1));
      log.reserve(removal.bytes());
      log.append(removal);
    }
    for (int start = 0; start < 3; start++) {
      try (DataFolder folder = open()) {
        assertThat(FolderScript.read(folder)).hasSize(1);
      }
    }
  }
}
