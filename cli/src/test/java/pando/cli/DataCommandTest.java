package pando.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.journal.DataFolder;
import pando.journal.Log;
import pando.journal.LogOptions;
import pando.journal.RecordBuilder;

final class DataCommandTest extends CommandFixture {
  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);
  private static final int SEGMENT_HEADER_BYTES = 4_096;
  private static final int RECORD_BYTES = 32;

  private DataFolder open(Path folder, String kind) {
    return DataFolder.open(folder, kind, SMALL);
  }

  private static void append(Log log, RecordBuilder record) {
    log.reserve(record.bytes());
    log.append(record);
  }

  /** Makes a folder of words: of each number up to a count, its square; without 0. */
  private Path words(int count) {
    Path folder = directory.resolve("words");
    try (DataFolder opened = open(folder, "words")) {
      opened.setCodecs("longs longs");
      Log log = opened.begin();
      for (long i = 0; i < count; i++) {
        append(log, new RecordBuilder().putWord(i, i * i));
      }
      append(log, new RecordBuilder().removeWord(0));
    }
    return folder;
  }

  private Path strings() {
    Path folder = directory.resolve("strings");
    try (DataFolder opened = open(folder, "byte-strings")) {
      Log log = opened.begin();
      append(log, put("banana", new byte[] {0, 'a', (byte) 0xff}));
      append(log, put("\u00e4pfel", "gr\u00fcn\\\t".getBytes(UTF_8)));
      append(log, put("apple", "red".getBytes(UTF_8)));
      append(log, new RecordBuilder().remove(bytes("banana".getBytes(UTF_8))));
      append(log, put("cherry", new byte[0]));
    }
    return folder;
  }

  private static RecordBuilder put(String key, byte[] value) {
    return new RecordBuilder().put(bytes(key.getBytes(UTF_8)), bytes(value));
  }

  private static MemorySegment bytes(byte[] bytes) {
    return MemorySegment.ofArray(bytes);
  }

  private static Path file(Path folder, String begin) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> String.valueOf(file.getFileName()).startsWith(begin))
          .sorted()
          .findFirst()
          .orElseThrow();
    }
  }

  private static void change(Path file, long at) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(at);
      int one = bytes.read();
      bytes.seek(at);
      bytes.write(one ^ 1);
    }
  }

  private void assertRefused(int exitCode, String line, String... arguments) {
    err.getBuffer().setLength(0);
    assertThat(execute(arguments)).isEqualTo(exitCode);
    assertThat(err.toString().lines()).singleElement().asString().contains(line);
  }

  @Test
  void shouldCheckAWholeFolder() {
    Path folder = words(2_500);
    assertThat(execute("data", "check", folder.toString())).isZero();
    assertThat(out.toString())
        .containsPattern("kind +words\n")
        .containsPattern("codecs +longs longs\n")
        .containsPattern("sorted files +[01]\n")
        .containsPattern("log files +[1-9]\n")
        .containsPattern("entries +2,499\n")
        .containsPattern("changes +[0-9,]+ of them not in sorted files yet\n")
        .containsPattern("end +[0-9a-f]+, closed\n")
        .endsWith("Every byte is as it was written.\n");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void shouldSayWhichClusterHasAFolder() {
    Path folder = words(10);
    UUID cluster = UUID.randomUUID();
    try (DataFolder opened = open(folder, "words")) {
      opened.setGeneration(cluster, 7);
    }
    assertThat(execute("data", "check", folder.toString())).isZero();
    assertThat(out.toString()).containsPattern("cluster +" + cluster + ", generation 7\n");
    Path copy = directory.resolve("copy");
    assertThat(execute("data", "backup", folder.toString(), copy.toString())).isZero();
    out.getBuffer().setLength(0);
    assertThat(execute("data", "check", copy.toString())).isZero();
    assertThat(out.toString()).doesNotContain("cluster");
  }

  @Test
  void shouldTellOfDamage() throws IOException {
    Path folder = words(2_500);
    open(folder, "words").close(); // It sorts the log.
    Path sorted = file(folder, "sorted-");
    change(sorted, 5_000);
    assertRefused(1, "damaged: folder=" + folder, "data", "check", folder.toString());
    assertThat(err.toString()).contains("restore a backup (pando data restore)");
    assertThat(out.toString()).contains(sorted + " is damaged").doesNotContain("entries");
    Files.writeString(folder.resolve("manifest"), "pando-data 1\n");
    assertRefused(1, "the manifest is damaged", "data", "check", folder.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"check", "repair", "dump"})
  void shouldRefuseWhatIsNoFolder(String command) throws IOException {
    Path nowhere = directory.resolve("nowhere");
    assertRefused(2, "there is no such folder: folder=" + nowhere, "data", command, "" + nowhere);
    assertRefused(2, "it is no data folder", "data", command, "" + directory);
    Path file = Files.writeString(directory.resolve("file"), "text");
    assertRefused(2, "it is no folder: folder=" + file, "data", command, "" + file);
    Path cutOff = Files.createDirectory(directory.resolve("cut-off"));
    Files.writeString(cutOff.resolve("unfinished"), "");
    assertRefused(2, "remove the folder, and make it again", "data", command, "" + cutOff);
    assertRefused(2, "Missing required parameter: 'DIR'", "data", command);
  }

  @ParameterizedTest
  @ValueSource(strings = {"check", "repair", "dump"})
  void shouldRefuseAFolderInUse(String command) {
    Path folder = words(10);
    try (DataFolder _ = open(folder, "words")) {
      assertRefused(1, "the folder is in use: folder=", "data", command, folder.toString());
      assertThat(err.toString())
          .contains("process=" + ProcessHandle.current().pid())
          .contains("end that process first");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"check", "repair", "dump"})
  void shouldRefuseAFolderWithoutRights(String command) throws IOException {
    Path folder = words(10);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("---------"));
    try {
      assumeThat(Files.isReadable(folder)).isFalse();
      assertRefused(1, "this user has no right to use the folder", "data", command, "" + folder);
    } finally {
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
    }
  }

  @Test
  void shouldNotBackUpWithoutRights() throws IOException {
    Path folder = words(10);
    Path closed = Files.createDirectory(directory.resolve("closed"));
    Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("r-x------"));
    assumeThat(Files.isWritable(closed)).isFalse();
    String copy = closed.resolve("copy").toString();
    assertRefused(
        1, "this user has no right to use the folder", "data", "backup", "" + folder, copy);
    assertRefused(
        1, "this user has no right to use the folder", "data", "restore", "" + folder, copy);
  }

  @Test
  void shouldBackUpAFolderInUseAndRestoreIt() {
    Path folder = words(2_500);
    Path copy = directory.resolve("copy");
    Path restored = directory.resolve("restored");
    try (DataFolder opened = open(folder, "words")) {
      append(opened.begin(), new RecordBuilder().putWord(-7, 49));
      assertThat(execute("data", "backup", "" + folder, "" + copy)).isZero();
      assertThat(out.toString()).containsPattern("copied to .*copy, up to place [0-9a-f]+: files=");
      assertRefused(2, "the folder is not empty", "data", "backup", "" + folder, "" + copy);
      assertRefused(1, "in use", "data", "restore", "" + folder, "" + restored);
      assertThat(restored).doesNotExist();
    }
    assertThat(execute("data", "check", "" + copy)).isZero();
    assertThat(execute("data", "restore", "" + copy, "" + restored)).isZero();
    assertThat(out.toString()).contains("restored to " + restored + ": kind=words, entries=2,500");
    assertRefused(2, "the folder is not empty", "data", "restore", "" + copy, "" + restored);
    try (DataFolder opened = open(restored, "words")) {
      assertThat(opened.codecs()).isEqualTo("longs longs");
    }
    assertRefused(2, "there is no such folder", "data", "restore", "" + folder + 1, "" + copy);
    assertRefused(2, "there is no such folder", "data", "backup", "" + folder + 1, "" + copy);
    assertRefused(2, "onto itself", "data", "restore", "" + copy, copy + "/../copy");
    assertRefused(2, "--wait", "data", "backup", "--wait=-1", "" + folder, "" + restored + 1);
    assertRefused(2, "Missing required parameter: 'TO'", "data", "backup", "" + folder);
  }

  @Test
  void shouldRestoreNothingOfADamagedFolder() throws IOException {
    Path folder = words(2_500);
    open(folder, "words").close(); // It sorts the log.
    change(file(folder, "sorted-"), 5_000);
    Path restored = directory.resolve("restored");
    assertRefused(1, "the block at 4096", "data", "restore", "" + folder, "" + restored);
    assertThat(restored).doesNotExist();
  }

  @Test
  void shouldCutWhereItIsTold() throws IOException {
    Path folder = words(100);
    assertThat(execute("data", "repair", "" + folder)).isZero();
    assertThat(out.toString()).contains("there is nothing to repair");
    assertRefused(2, "not damaged, nothing is cut", "data", "repair", "" + folder, "--cut-at=1");
    Path segment = file(folder, "log-");
    change(segment, SEGMENT_HEADER_BYTES + 10 * RECORD_BYTES + 20);
    assertRefused(1, "nothing was changed", "data", "repair", "" + folder);
    String place = found(err, "--cut-at ([0-9a-f]+)");
    assertThat(out.toString()).contains("cut-at=" + place);
    assertRefused(1, "--cut-at " + place, "data", "dump", "" + folder);
    assertRefused(1, "--cut-at " + place, "data", "check", "" + folder);
    assertRefused(1, "--cut-at " + place, "data", "backup", "" + folder, "" + folder + 1);
    assertRefused(2, "at another place", "data", "repair", "" + folder, "--cut-at=1000");
    assertRefused(2, "hexadecimal", "data", "repair", "" + folder, "--cut-at=here");
    byte[] before = Files.readAllBytes(segment);
    assertThat(execute("data", "repair", "" + folder, "--cut-at", place)).isZero();
    Path kept = folder.resolve("cut-" + place);
    assertThat(out.toString())
        .containsPattern("cut at place " + place + ": files=1, bytes=.*, whole records=9[0-9], ")
        .contains("kept in " + kept);
    assertThat(kept.resolve(String.valueOf(segment.getFileName()))).hasBinaryContent(before);
    out.getBuffer().setLength(0);
    assertThat(execute("data", "dump", "" + folder)).isZero();
    assertThat(out.toString().lines()).hasSize(10).startsWith("0\t0", "1\t1", "2\t4");
  }

  @Test
  void shouldDumpEntriesAndRecords() {
    Path folder = strings();
    assertThat(execute("data", "dump", folder.toString())).isZero();
    assertThat(out.toString().lines())
        .containsExactly("apple\tred", "cherry\t", "\u00e4pfel\tgr\u00fcn\\\\\\x09");
    out.getBuffer().setLength(0);
    assertThat(execute("data", "dump", "--log", folder.toString())).isZero();
    List<String> records = out.toString().lines().toList();
    assertThat(records.getFirst()).isEqualTo("2000\tput\tbanana\t\\x00a\\xff");
    assertThat(records.get(3)).endsWith("\tremove\tbanana");
    assertThat(records.getLast()).containsPattern("^[0-9a-f]+\tclosed\t[0-9a-f]+$");
  }

  @Test
  void shouldDumpWords() {
    Path folder = words(1_000);
    assertThat(execute("data", "dump", folder.toString())).isZero();
    assertThat(out.toString().lines())
        .hasSize(999)
        .startsWith("1\t1", "2\t4")
        .endsWith("999\t998001");
  }

  @Test
  void shouldPrintItsHelpWithoutASubcommand() {
    assertThat(execute("data")).isEqualTo(2);
    assertThat(err.toString()).contains("check", "backup", "restore", "repair", "dump");
  }
}
