package pando.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class SharedMemoryTest {
  private static final long BYTES = 4 << 20;
  private static final long PID = ProcessHandle.current().pid();

  @Test
  void shouldShareBytesAndAtomics() {
    try (SharedMemory memory = SharedMemory.create("pando-test", BYTES);
        SharedMemory peer = SharedMemory.attach(PID, memory.descriptor(), BYTES)) {
      Words.set(memory.segment(), 8, 5);
      assertThat(Words.getAndAdd(peer.segment(), 8, 1)).isEqualTo(5);
      assertThat(Words.get(memory.segment(), 8)).isEqualTo(6);
      assertThat(memory.segment().address()).isNotEqualTo(peer.segment().address());
    }
  }

  @Test
  void shouldKeepBytesForPeersWhenTheCreatorCloses() {
    SharedMemory memory = SharedMemory.create("pando-test", BYTES);
    Words.set(memory.segment(), BYTES - 8, 5);
    try (SharedMemory peer = SharedMemory.attach(PID, memory.descriptor(), BYTES)) {
      memory.close();
      assertThat(Words.get(peer.segment(), BYTES - 8)).isEqualTo(5);
      assertThatThrownBy(() -> Words.get(memory.segment(), 0))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void shouldNotLetAPeerChangeTheSize() throws IOException {
    try (SharedMemory memory = SharedMemory.create("pando-test", BYTES)) {
      Path file = Path.of("/proc/" + PID + "/fd/" + memory.descriptor());
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        assertThatThrownBy(() -> channel.truncate(4096)).isInstanceOf(IOException.class);
      }
      try (RandomAccessFile peer = new RandomAccessFile(file.toFile(), "rw")) {
        assertThatThrownBy(() -> peer.setLength(2 * BYTES)).isInstanceOf(IOException.class);
      }
      assertThat(Words.compareAndExchange(memory.segment(), BYTES - 8, 0, 1)).isZero();
    }
  }

  @Test
  void shouldRefuseAnUnsealedFile() {
    int descriptor;
    try (Arena arena = Arena.ofConfined()) {
      int flags = Linux.MFD_CLOEXEC | Linux.MFD_ALLOW_SEALING;
      descriptor =
          (int) Linux.MEMFD_CREATE.call("test", arena.allocateFrom("test").address(), flags);
    }
    try {
      Linux.FTRUNCATE.call("test", descriptor, BYTES);
      assertThatThrownBy(() -> SharedMemory.attach(PID, descriptor, BYTES))
          .isInstanceOf(NativeMemoryException.class)
          .hasMessageContaining("not sealed")
          .hasMessageContaining("seals=0");
    } finally {
      Linux.CLOSE.call("test", descriptor);
    }
  }

  @Test
  void shouldRefuseAnotherSize() {
    try (SharedMemory memory = SharedMemory.create("pando-test", BYTES)) {
      assertThatThrownBy(() -> SharedMemory.attach(PID, memory.descriptor(), 2 * BYTES))
          .isInstanceOf(NativeMemoryException.class)
          .hasMessageContaining("bytes=" + BYTES)
          .hasMessageContaining("required=" + 2 * BYTES);
    }
  }

  @Test
  void shouldRefuseWhatIsNotThere() {
    assertThatThrownBy(() -> SharedMemory.attach(PID, 999_999, BYTES))
        .isInstanceOf(NativeMemoryException.class)
        .hasMessageContaining("ENOENT");
  }

  @Test
  void shouldRefuseMoreThanThereIsBeforeTakingIt() {
    assertThatThrownBy(() -> SharedMemory.create("pando-test", 1L << 45))
        .isInstanceOf(NativeMemoryException.class)
        .hasMessageContaining("not enough memory: bytes=" + (1L << 45))
        .hasMessageContaining("availableBytes=");
  }
}
