package pando.journal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FaultyDiskTest {
  private static final int DRAWS = 300;
  private static final int PAGES = 4;
  private static final int BYTES = PAGES * FaultyFile.PAGE;

  private final FaultyDisk disk = new FaultyDisk();

  /** Returns all different states of something that crashes of the disk leave. */
  private static Set<String> crashes(FaultyDisk of, Content content) throws IOException {
    Set<String> all = new HashSet<>();
    RandomGenerator random = new SplittableRandom(1);
    for (int i = 0; i < DRAWS; i++) {
      all.add(content.of(of.crash(random)));
    }
    return all;
  }

  @FunctionalInterface
  private interface Content {
    String of(Disk of) throws IOException;
  }

  /** Returns the names and contents of all files, in the order of the names. */
  private static String text(Disk of) throws IOException {
    List<String> texts = new ArrayList<>();
    for (String name : of.list().stream().sorted().toList()) {
      texts.add(name + "=" + new String(bytes(of, name), UTF_8));
    }
    return String.join(" ", texts);
  }

  private static byte[] bytes(Disk of, String name) throws IOException {
    try (DiskFile file = of.open(name)) {
      ByteBuffer buffer = ByteBuffer.allocate((int) file.bytes() + 1);
      int count = file.read(0, buffer);
      assertThat(count).isEqualTo((int) file.bytes());
      byte[] bytes = new byte[count];
      buffer.flip().get(bytes);
      return bytes;
    }
  }

  private static void write(DiskFile to, String text) throws IOException {
    to.write(0, ByteBuffer.wrap(text.getBytes(UTF_8)));
  }

  /** Writes a file, and has it on the disk, but not its name. */
  private static void file(Disk of, String name, String text) throws IOException {
    try (DiskFile file = of.create(name)) {
      write(file, text);
      file.force();
    }
  }

  @Test
  void shouldBehaveAsFolder(@TempDir Path folder) throws IOException {
    Disk real = new FolderDisk(folder);
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 600; i++) {
      long seed = random.nextLong();
      String one = act(real, new SplittableRandom(seed));
      assertThat(act(disk, new SplittableRandom(seed))).as("action=%s", i).isEqualTo(one);
      assertThat(text(disk)).as("action=%s", i).isEqualTo(text(real));
    }
  }

  private static String act(Disk on, RandomGenerator random) throws IOException {
    String name = "f" + random.nextInt(4);
    String other = "f" + random.nextInt(4);
    try {
      switch (random.nextInt(6)) {
        case 0 -> on.create(name).close();
        case 1 -> on.remove(name);
        case 2 -> on.rename(name, other);
        case 3 -> on.force();
        case 4 -> store(on, name, random);
        default -> write(on, name, random);
      }
      return "done";
    } catch (NoSuchFileException e) {
      return "no such file";
    }
  }

  private static void write(Disk on, String name, RandomGenerator random) throws IOException {
    try (DiskFile file = on.open(name)) {
      ByteBuffer bytes = ByteBuffer.allocate(random.nextInt(300));
      while (bytes.hasRemaining()) {
        bytes.put((byte) random.nextInt('a', 'z'));
      }
      file.write(random.nextInt(10_000), bytes.flip());
      assertThat(bytes.hasRemaining()).isFalse();
    }
  }

  private static void store(Disk on, String name, RandomGenerator random) throws IOException {
    try (DiskFile file = on.open(name)) {
      long bytes = file.bytes();
      if (bytes > 0) {
        file.map().set(JAVA_BYTE, random.nextLong(bytes), (byte) 'Z');
      }
      file.force();
    }
  }

  @Test
  void shouldKeepWhatWasForced() throws IOException {
    file(disk, "a", "one");
    disk.force();
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactly("a=one");
  }

  @Test
  void shouldLoseWhatWasNotForced() throws IOException {
    file(disk, "a", "one");
    disk.force();
    try (DiskFile file = disk.open("a")) {
      write(file, "two");
    }
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactlyInAnyOrder("a=one", "a=two");
  }

  @Test
  void shouldLoseFileWhoseNameWasNotForced() throws IOException {
    file(disk, "a", "one");
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactlyInAnyOrder("", "a=one");
  }

  @Test
  void shouldUndoRenameInOneStep() throws IOException {
    file(disk, "a", "old");
    file(disk, "a.new", "new");
    disk.force();
    disk.rename("a.new", "a");
    assertThat(crashes(disk, FaultyDiskTest::text))
        .containsExactlyInAnyOrder("a=old a.new=new", "a=new");
    disk.force();
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactly("a=new");
  }

  @Test
  void shouldNameFileWhoseBytesAreNotThere() throws IOException {
    try (DiskFile file = disk.create("a.new")) {
      write(file, "new");
    }
    disk.rename("a.new", "a");
    assertThat(crashes(disk, FaultyDiskTest::text)).contains("a=", "a=new", "a=\0\0\0", "");
  }

  @Test
  void shouldBringBackFileWhoseRemovalWasNotForced() throws IOException {
    file(disk, "a", "one");
    disk.force();
    disk.remove("a");
    disk.remove("b");
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactlyInAnyOrder("", "a=one");
    disk.force();
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactly("");
  }

  @Test
  void shouldDoNameChangesInAnyOrder() throws IOException {
    file(disk, "a", "one");
    disk.force();
    file(disk, "b", "two");
    disk.remove("a");
    assertThat(crashes(disk, FaultyDiskTest::text))
        .containsExactlyInAnyOrder("", "a=one", "b=two", "a=one b=two");
  }

  @Test
  void shouldTearPages() throws IOException {
    DiskFile file = mapped();
    file.map().fill((byte) 'b');
    Set<String> pages = new HashSet<>();
    Set<String> sectors = new HashSet<>();
    for (String crash : crashes(disk, of -> new String(bytes(of, "a"), UTF_8))) {
      StringBuilder wholes = new StringBuilder();
      for (int page = 0; page < PAGES; page++) {
        String its = crash.substring(page * FaultyFile.PAGE, (page + 1) * FaultyFile.PAGE);
        wholes.append(its.chars().distinct().count() == 1 ? its.charAt(0) : '?');
        for (int at = 0; at < FaultyFile.PAGE; at += FaultyFile.SECTOR) {
          sectors.add(its.substring(at, at + FaultyFile.SECTOR));
        }
      }
      pages.add(wholes.toString());
    }
    assertThat(sectors)
        .containsExactlyInAnyOrder("a".repeat(FaultyFile.SECTOR), "b".repeat(FaultyFile.SECTOR));
    assertThat(pages).contains("aaaa", "bbbb").anyMatch(it -> it.contains("?"));
    assertThat(pages).hasSizeGreaterThan(20);
    file.force();
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactly("a=" + "b".repeat(BYTES));
  }

  /** Returns a file that is on the disk, with bytes that are a. */
  private DiskFile mapped() throws IOException {
    DiskFile file = disk.create("a");
    write(file, "a".repeat(BYTES));
    file.force();
    disk.force();
    return file;
  }

  @Test
  void shouldSeeStoresOfAllMappings() throws IOException {
    DiskFile one = mapped();
    DiskFile two = disk.open("a");
    one.map().set(JAVA_BYTE, 5, (byte) 'x');
    assertThat(two.map().get(JAVA_BYTE, 5)).isEqualTo((byte) 'x');
    assertThat(bytes(disk, "a")[5]).isEqualTo((byte) 'x');
    write(two, "yyyyyyy");
    assertThat(one.map().get(JAVA_BYTE, 5)).isEqualTo((byte) 'y');
    two.close();
    assertThatThrownBy(two::force).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void shouldLoseLength() throws IOException {
    file(disk, "a", "one");
    disk.force();
    try (DiskFile file = disk.open("a")) {
      file.write(3, ByteBuffer.wrap("more".getBytes(UTF_8)));
    }
    assertThat(crashes(disk, FaultyDiskTest::text))
        .contains("a=one", "a=onemore", "a=one\0\0\0\0", "a=onemo");
  }

  @Test
  void shouldTruncateFileThatIsCreatedAgain() throws IOException {
    file(disk, "a", "old");
    disk.force();
    try (DiskFile file = disk.create("a")) {
      assertThat(file.bytes()).isZero();
      assertThat(crashes(disk, FaultyDiskTest::text)).contains("a=old", "a=");
      file.force();
    }
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactly("a=");
  }

  @Test
  void shouldForgetPagesOfFailedForce() throws IOException {
    DiskFile file = mapped();
    file.map().set(JAVA_BYTE, 0, (byte) 'x');
    disk.failForces();
    assertThatThrownBy(file::force).isInstanceOf(IOException.class);
    disk.heal();
    file.map().set(JAVA_BYTE, FaultyFile.PAGE, (byte) 'x');
    file.force();
    assertThat(crashes(disk, of -> bytes(of, "a")[0] == 'x' ? "there" : "lost"))
        .containsExactlyInAnyOrder("there", "lost");
    assertThat(crashes(disk, of -> bytes(of, "a")[FaultyFile.PAGE] == 'x' ? "there" : "lost"))
        .containsExactly("there");
    // Who changes the page again has all of it written.
    file.map().set(JAVA_BYTE, 1, (byte) 'x');
    file.force();
    assertThat(crashes(disk, of -> bytes(of, "a")[0] == 'x' ? "there" : "lost"))
        .containsExactly("there");
  }

  @Test
  void shouldKeepNoNameBehindFailedForceOfFolder() throws IOException {
    file(disk, "a", "one");
    disk.failForces();
    assertThatThrownBy(disk::force).isInstanceOf(IOException.class);
    disk.heal();
    disk.force();
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactlyInAnyOrder("", "a=one");
  }

  @Test
  void shouldHaveNoRoom() throws IOException {
    DiskFile file = mapped();
    disk.fillUp();
    assertThatThrownBy(() -> disk.create("b")).hasMessage("No space left on device");
    assertThatThrownBy(() -> file.write(BYTES - 1, ByteBuffer.wrap(new byte[] {'x', 'y'})))
        .hasMessage("No space left on device");
    assertThat(file.bytes()).isEqualTo(BYTES);
    write(file, "there is room for what is written over");
    file.map().set(JAVA_BYTE, BYTES - 1, (byte) 'x');
    file.force();
    disk.heal();
    disk.create("b").close();
    assertThat(disk.list()).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void shouldFailAtEachStepOnce() throws IOException {
    long steps = script(new FaultyDisk());
    for (long step = 1; step <= steps; step++) {
      FaultyDisk failing = new FaultyDisk();
      failing.failAt(step);
      assertThatThrownBy(() -> script(failing)).isInstanceOf(IOException.class);
      assertThat(failing.steps()).isEqualTo(step);
      assertThat(script(failing)).isEqualTo(step + steps);
    }
  }

  private static long script(FaultyDisk on) throws IOException {
    try (DiskFile file = on.create("a.new")) {
      write(file, "text");
      file.map().set(JAVA_BYTE, 0, (byte) 'T');
      file.force();
    }
    on.rename("a.new", "a");
    on.force();
    on.open("a").close();
    on.remove("a");
    return on.steps();
  }

  @Test
  void shouldTellHookOfEachStepBeforeIt() throws IOException {
    List<String> texts = new ArrayList<>();
    List<Integer> files = new ArrayList<>();
    disk.withHook((number, text) -> {
      assertThat(number).isEqualTo(texts.size() + 1);
      texts.add(text);
      files.add(disk.list().size());
    });
    script(disk);
    assertThat(texts)
        .containsExactly(
            "create a.new",
            "write a.new",
            "map a.new",
            "force a.new",
            "rename a.new to a",
            "force of the folder",
            "open a",
            "remove a");
    assertThat(files).containsExactly(0, 1, 1, 1, 1, 1, 1, 1);
  }

  @Test
  void shouldWriteBackAtAnyTime() throws IOException {
    DiskFile file = mapped();
    file.map().fill((byte) 'b');
    disk.writeBack(new SplittableRandom(3));
    file.map().fill((byte) 'c');
    assertThat(crashes(disk, of -> new String(bytes(of, "a"), UTF_8)))
        .anyMatch(it -> it.contains("a") && it.contains("b") && it.contains("c"));
  }

  @Test
  void shouldFindAllAfterKillAndLoseItAfterCrash() throws IOException {
    DiskFile file = mapped();
    file.map().fill((byte) 'b');
    disk.rename("a", "b");
    FaultyDisk next = disk.kill();
    assertThat(text(next)).isEqualTo("b=" + "b".repeat(BYTES));
    file.map().fill((byte) 'c');
    assertThat(crashes(next, FaultyDiskTest::text))
        .contains("a=" + "a".repeat(BYTES), "b=" + "b".repeat(BYTES))
        .noneMatch(it -> it.contains("c"));
  }

  @Test
  void shouldDrawTheSameBySeed() throws IOException {
    DiskFile file = mapped();
    file.map().fill((byte) 'b');
    disk.rename("a", "b");
    for (int seed = 0; seed < 50; seed++) {
      assertThat(text(disk.crash(new SplittableRandom(seed))))
          .isEqualTo(text(disk.crash(new SplittableRandom(seed))));
    }
  }

  @Test
  void shouldCrashCloneAgain() throws IOException {
    file(disk, "a", "one");
    disk.force();
    FaultyDisk clone = disk.crash(new SplittableRandom(1));
    try (DiskFile file = clone.open("a")) {
      write(file, "two");
    }
    assertThat(crashes(clone, FaultyDiskTest::text)).containsExactlyInAnyOrder("a=one", "a=two");
    assertThat(crashes(disk, FaultyDiskTest::text)).containsExactly("a=one");
  }
}
