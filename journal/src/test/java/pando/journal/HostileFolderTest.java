package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Files whose bytes are not those that were written: they are refused, or have no part in it. */
class HostileFolderTest {
  private static final int MUTATIONS = Boolean.getBoolean("pando.campaign") ? 1_000_000 : 3_000;
  private static final int CHANGES = 150;

  private final long seed = Long.getLong("pando.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);
  private final FolderScript script = new FolderScript(seed, SyncPolicy.EVERYSEC);

  /** Changes a file in some way; returns what was done. */
  private String change(DiskFile file) throws IOException {
    int bytes = (int) file.bytes();
    ByteBuffer all = ByteBuffer.allocate(bytes);
    int count = file.read(0, all);
    assertThat(count).isEqualTo(bytes);
    int at = random.nextInt(random.nextBoolean() ? bytes : Math.min(bytes, 8_192));
    return switch (random.nextInt(3)) {
      case 0 -> {
        all.put(at, (byte) (all.get(at) ^ 1 << random.nextInt(Byte.SIZE)));
        file.write(at, all.slice(at, 1));
        yield "bit at " + at;
      }
      case 1 -> {
        all.put(at, (byte) random.nextInt());
        file.write(at, all.slice(at, 1));
        yield "byte at " + at;
      }
      default -> {
        int from = random.nextInt(bytes);
        int length = random.nextInt(Math.min(bytes - Math.max(at, from), 600) + 1);
        file.write(at, all.slice(from, length));
        yield "%s bytes from %s to %s".formatted(length, from, at);
      }
    };
  }

  @Test
  void shouldRefuseOrAnswerTheSame() throws IOException {
    FaultyDisk disk = new FaultyDisk();
    script.run(disk, CHANGES);
    script.run(disk, CHANGES);
    Map<String, String> whole;
    try (DataFolder folder = script.open(disk.kill())) {
      whole = FolderScript.read(folder);
    }
    int refused = 0;
    List<String> names = disk.list();
    for (int i = 0; i < MUTATIONS; i++) {
      FaultyDisk changed = disk.kill();
      String name = names.get(random.nextInt(names.size()));
      String what;
      try (DiskFile file = changed.open(name)) {
        what = change(file);
      }
      try (DataFolder folder = script.open(changed)) {
        assertThat(FolderScript.read(folder))
            .as("pando.seed=%s, file=%s, %s", seed, name, what)
            .isEqualTo(whole);
      } catch (DamagedFolderException e) {
        assertThat(e).as("pando.seed=%s, %s", seed, what).hasMessageContaining(name);
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(MUTATIONS / 10);
  }

  @Test
  void shouldRefuseFilesThatAreCutOrMissing() throws IOException {
    FaultyDisk disk = new FaultyDisk();
    script.run(disk, CHANGES);
    script.run(disk, CHANGES);
    Map<String, String> whole;
    try (DataFolder folder = script.open(disk.kill())) {
      whole = FolderScript.read(folder);
    }
    for (String name : disk.list()) {
      FaultyDisk without = disk.kill();
      without.remove(name);
      if (isWithoutRecords(disk, name)) {
        try (DataFolder folder = script.open(without)) {
          assertThat(FolderScript.read(folder)).isEqualTo(whole);
        }
      } else {
        assertRefused(without, name);
      }
      try (DiskFile file = disk.open(name)) {
        ByteBuffer all = ByteBuffer.allocate((int) file.bytes());
        int count = file.read(0, all);
        for (int length : new int[] {0, 1, count / 2, count - 1}) {
          FaultyDisk cut = disk.kill();
          try (DiskFile shorter = cut.create(name)) {
            shorter.write(0, all.slice(0, length));
          }
          assertRefused(cut, name);
        }
      }
    }
  }

  /** Returns whether a file is the segment that was made ready for later records. */
  private static boolean isWithoutRecords(Disk disk, String name) throws IOException {
    Manifest manifest = FolderAccess.manifest(disk);
    try (LogTail tail = LogTail.view(disk, manifest)) {
      return LogSegment.firstOf(name) > tail.end();
    }
  }

  private void assertRefused(FaultyDisk disk, String name) throws IOException {
    try (DataFolder folder = script.open(disk)) {
      throw new AssertionError(
          "opened: pando.seed=%s, file=%s, folder=%s".formatted(seed, name, folder));
    } catch (DamagedFolderException | IllegalArgumentException e) {
      assertThat(e.getMessage()).isNotBlank();
    }
  }
}
