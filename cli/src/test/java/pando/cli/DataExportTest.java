package pando.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.journal.DataFolder;
import pando.journal.EntryStream;
import pando.journal.FolderCheck;
import pando.journal.FolderReader;
import pando.journal.Log;
import pando.journal.LogOptions;
import pando.journal.RecordBuilder;
import pando.map.Pando;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;
import picocli.CommandLine;

/** Entries go into a file of text and come back. */
final class DataExportTest extends CommandFixture {
  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);
  private static final String STRINGS =
      "{\"format\":\"pando-entries 1\",\"kind\":\"byte-strings\"}\n";
  private static final String WORDS = "{\"format\":\"pando-entries 1\",\"kind\":\"words\"}\n";
  private static final String END = "{\"end\":true}\n";

  private Path path(String name) {
    return directory.resolve(name);
  }

  private void assertRefused(int exitCode, String line, String... arguments) {
    err.getBuffer().setLength(0);
    assertThat(execute(arguments)).isEqualTo(exitCode);
    assertThat(err.toString().lines()).singleElement().asString().contains(line);
  }

  private static void append(Log log, RecordBuilder record) {
    log.reserve(record.bytes());
    log.append(record);
  }

  private static List<List<Byte>> bytes(MemorySegment key, MemorySegment value) {
    return List.of(list(key.toArray(JAVA_BYTE)), list(value.toArray(JAVA_BYTE)));
  }

  private static List<Byte> list(byte[] bytes) {
    List<Byte> list = new ArrayList<>();
    for (byte each : bytes) {
      list.add(each);
    }
    return list;
  }

  private static List<List<List<Byte>>> entries(Path folder) throws IOException {
    List<List<List<Byte>>> all = new ArrayList<>();
    try (FolderReader reader = FolderReader.open(folder);
        EntryStream entries = reader.entries()) {
      while (entries.next()) {
        all.add(bytes(entries.key(), entries.value()));
      }
    }
    return all;
  }

  /** Exports a folder, mixes the lines, imports them, and compares. */
  private void assertComesBack(Path folder, SplittableRandom random) throws IOException {
    Path file = path("file-" + random.nextInt());
    assertThat(execute("data", "export", "" + folder, "" + file)).as(err.toString()).isZero();
    assertThat(file.resolveSibling(file.getFileName() + ".new")).doesNotExist();
    assertComesBack(folder, file);
    List<String> lines = new ArrayList<>(Files.readAllLines(file));
    Collections.shuffle(lines.subList(1, lines.size() - 1), new Random(random.nextLong()));
    assertComesBack(folder, Files.write(path("mixed-" + random.nextInt()), lines));
  }

  private void assertComesBack(Path folder, Path file) throws IOException {
    Path made = path("of-" + file.getFileName());
    assertThat(execute("data", "import", "" + file, "" + made)).as(err.toString()).isZero();
    assertThat(entries(made)).isEqualTo(entries(folder));
    try (FolderReader before = FolderReader.open(folder);
        FolderReader after = FolderReader.open(made)) {
      assertThat(after.kind()).isEqualTo(before.kind());
      assertThat(after.codecs()).isEqualTo(before.codecs());
    }
  }

  @Test
  void shouldBringBackWords() throws IOException {
    SplittableRandom random = random();
    Path folder = path("words");
    try (DataFolder opened = DataFolder.open(folder, "words", SMALL)) {
      opened.setCodecs("longs longs");
      Log log = opened.begin();
      append(log, new RecordBuilder().putWord(Long.MIN_VALUE, Long.MAX_VALUE));
      append(log, new RecordBuilder().putWord(Long.MAX_VALUE, Long.MIN_VALUE));
      for (int i = 0; i < 5_000; i++) {
        append(log, new RecordBuilder().putWord(random.nextInt(1_000) - 500, random.nextLong()));
      }
      append(log, new RecordBuilder().removeWord(0));
    }
    assertComesBack(folder, random);
    assertThat(execute("data", "export", "" + folder, "-")).isZero();
    assertThat(out.toString())
        .contains(
            """
            {"format":"pando-entries 1","kind":"words","codecs":"longs longs"}
            {"key":-9223372036854775808,"value":9223372036854775807}
            """)
        .endsWith("{\"key\":9223372036854775807,\"value\":-9223372036854775808}\n" + END);
  }

  @Test
  void shouldBringBackByteStrings() throws IOException {
    SplittableRandom random = random();
    Path folder = path("strings");
    TreeMap<String, byte[]> model = new TreeMap<>();
    try (DataFolder opened = DataFolder.open(folder, "byte-strings", SMALL)) {
      Log log = opened.begin();
      for (int i = 0; i < 2_000; i++) {
        byte[] key = new byte[random.nextInt(4)];
        byte[] value = new byte[random.nextInt(300)];
        random.nextBytes(key);
        random.nextBytes(value);
        model.put(Arrays.toString(key), value);
        append(
            log, new RecordBuilder().put(MemorySegment.ofArray(key), MemorySegment.ofArray(value)));
      }
    }
    assertThat(entries(folder)).hasSize(model.size());
    assertComesBack(folder, random);
  }

  private static SplittableRandom random() {
    long seed = Long.getLong("pando.seed", System.nanoTime());
    System.out.println("pando.seed=" + seed);
    return new SplittableRandom(seed);
  }

  @Test
  void shouldBringBackNamedMaps() throws IOException {
    String from = "local:" + path("maps") + "?size=64MiB";
    try (Pando pando = Pando.open(from)) {
      PandoMap<String, Long> ages = pando.map("ages", KeyCodec.strings(), ValueCodec.longs());
      ages.put("Ada", 36L);
      pando.map(KeyCodec.strings(), ValueCodec.strings()).put("a", "b");
    }
    assertComesBack(path("maps"), random());
    try (Stream<Path> made = Files.list(directory)) {
      Path of = made.filter(file -> file.toString().contains("of-mixed")).findFirst().orElseThrow();
      try (Pando pando = Pando.open("local:" + of + "?size=64MiB")) {
        assertThat(pando.map("ages", KeyCodec.strings(), ValueCodec.longs()))
            .containsExactly(Map.entry("Ada", 36L));
        assertThat(pando.map(KeyCodec.strings(), ValueCodec.strings()))
            .containsExactly(Map.entry("a", "b"));
      }
    }
  }

  @Test
  void shouldBringBackWhatADoorHasStored() throws Exception {
    Path folder = path("door");
    ask(folder, "SET a b\r\nZADD z 1 m\r\n", "+OK\r\n:1\r\n");
    assertThat(execute("data", "export", "" + folder, "" + path("file"))).isZero();
    assertThat(execute("data", "import", "" + path("file"), "" + path("other"))).isZero();
    ask(path("other"), "GET a\r\nZSCORE z m\r\n", "$1\r\nb\r\n$1\r\n1\r\n");
  }

  private void ask(Path folder, String lines, String replies) throws Exception {
    try (RunningCommand door =
            RunningCommand.start(
                err, "serve", "--resp=0", "--data=" + folder, "--bytes-per-server=64MiB");
        Socket client =
            new Socket(
                InetAddress.getLoopbackAddress(),
                Integer.parseInt(door.found("127\\.0\\.0\\.1:([0-9]+)")))) {
      client.getOutputStream().write(lines.getBytes(UTF_8));
      assertThat(client.getInputStream().readNBytes(replies.length()))
          .asString(UTF_8)
          .isEqualTo(replies);
    }
  }

  private int importText(String text) throws IOException {
    Path file = Files.writeString(path("text"), text);
    err.getBuffer().setLength(0);
    return execute("data", "import", "" + file, "" + path("made"));
  }

  @Test
  void shouldTakeTheLastLineOfAKey() throws IOException {
    assertThat(
            importText(
                WORDS
                    + "{\"key\":2,\"value\":1}\n{ \"value\" : 2,\n\"key\":-1}\n\n"
                    + "{\"key\":2,\"value\":3}\n"
                    + END))
        .as(err.toString())
        .isZero();
    assertThat(execute("data", "dump", "" + path("made"))).isZero();
    assertThat(out.toString()).endsWith("-1\t2\n2\t3\n");
  }

  @ParameterizedTest
  @MethodSource("wrongFiles")
  void shouldRefuseALineByItsNumber(String text, String expected) throws IOException {
    assertThat(importText(text)).isEqualTo(1);
    assertThat(err.toString().lines()).singleElement().asString().contains(expected);
    assertThat(path("made")).doesNotExist();
  }

  static Stream<Arguments> wrongFiles() {
    String entry = "{\"key\":\"YQ==\",\"value\":\"\"}\n";
    return Stream.of(
        Arguments.of("", "line 1: the file is not whole"),
        Arguments.of("no JSON", "line 1: Unrecognized token"),
        Arguments.of("[]", "line 1: START_ARRAY in place of START_OBJECT"),
        Arguments.of("{}", "line 1: no first line of entries: format=, known=pando-entries 1"),
        Arguments.of(STRINGS.replace("1", "2"), "line 1: no first line"),
        Arguments.of(STRINGS.replace("byte-strings", "sets"), "kind=sets"),
        Arguments.of(STRINGS.replace("format", "colour"), "line 1: no field of this line: colour"),
        Arguments.of(WORDS.replace("\"words\"", "7"), "line 1: VALUE_NUMBER_INT in place of"),
        Arguments.of(STRINGS, "line 2: the file is not whole"),
        Arguments.of(STRINGS + entry + entry, "line 4: the file is not whole"),
        Arguments.of(STRINGS + entry + "{\"key\":\"YQ", "line 3: Unexpected end-of-input"),
        Arguments.of(STRINGS + END + entry, "line 3: something is behind the end"),
        Arguments.of(STRINGS + "{\"end\":false}", "line 2: VALUE_FALSE in place of VALUE_TRUE"),
        Arguments.of(STRINGS + "{}", "line 2: a line has a key and a value, or the end"),
        Arguments.of(STRINGS + "{\"key\":\"YQ==\"}", "line 2: a line has a key and a value"),
        Arguments.of(
            STRINGS + "{\"key\":\"YQ==\",\"value\":\"\",\"end\":true}",
            "line 2: a line has a key and a value, or the end"),
        Arguments.of(STRINGS + "{\"key\":7,\"value\":\"\"}", "line 2: VALUE_NUMBER_INT in place"),
        Arguments.of(STRINGS + "{\"key\":\"Y?==\",\"value\":\"\"}", "line 2: the key is no base64"),
        Arguments.of(STRINGS + "{\"key\":\"\",\"value\":\"Y\"}", "line 2: the value is no base64"),
        Arguments.of(STRINGS + "{\"key\":\"YQ==\",\"key\":\"YQ==\"}", "line 2: Duplicate"),
        Arguments.of(STRINGS + "{\"key\":{\"a\":[]}}", "line 2: "),
        Arguments.of(STRINGS + "[".repeat(100_000), "line 2: START_ARRAY in place of START_OBJECT"),
        Arguments.of(STRINGS + "{\"" + "x".repeat(100_000), "line 2: "),
        Arguments.of(STRINGS + key(1 << 16) + END, "line 2: too long for a record: keyBytes=65536"),
        Arguments.of(STRINGS + key(40 << 20), "line 2: String value length"),
        Arguments.of(WORDS + "{\"key\":1,\"value\":1.5}", "line 2: VALUE_NUMBER_FLOAT in place"),
        Arguments.of(WORDS + "{\"key\":\"1\",\"value\":1}", "line 2: VALUE_STRING in place"),
        Arguments.of(WORDS + "{\"key\":9223372036854775808,\"value\":1}", "line 2: "),
        Arguments.of(WORDS + "{\"key\":" + "9".repeat(100_000) + ",\"value\":1}", "line 2: "));
  }

  private static String key(int bytes) {
    String text = Base64.getEncoder().encodeToString(new byte[bytes]);
    return "{\"key\":\"" + text + "\",\"value\":\"\"}\n";
  }

  /** Files that were changed by chance are refused, or are files of entries. */
  @Test
  void shouldMakeAllOrNothingOfAFileThatWasChanged() throws IOException {
    SplittableRandom random = random();
    byte[] text = (STRINGS + key(3) + key(30) + key(300) + END).getBytes(UTF_8);
    for (int i = 0; i < 50; i++) {
      byte[] changed =
          Arrays.copyOf(text, random.nextInt(2) == 0 ? text.length : random.nextInt(text.length));
      for (int change = random.nextInt(4); change > 0 && changed.length > 0; change--) {
        changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
      }
      Path file = Files.write(path("changed"), changed);
      Path made = path("made-" + i);
      err.getBuffer().setLength(0);
      int exitCode = execute("data", "import", "" + file, "" + made);
      if (exitCode == 0) {
        assertThat(FolderCheck.of(made).problems()).isEmpty();
      } else {
        assertThat(exitCode).isOne();
        assertThat(err.toString().lines()).singleElement().asString().contains("changed, line ");
        assertThat(made).doesNotExist();
      }
    }
  }

  @Test
  void shouldReadStandardInput() throws IOException {
    InputStream before = System.in;
    AtomicBoolean closed = new AtomicBoolean();
    System.setIn(
        new ByteArrayInputStream((WORDS + END).getBytes(UTF_8)) {
          @Override
          public void close() {
            closed.set(true);
          }
        });
    try {
      assertThat(execute("data", "import", "-", "" + path("made"))).isZero();
    } finally {
      System.setIn(before);
    }
    assertThat(closed).isFalse();
    assertThat(out.toString()).contains("imported to " + path("made") + ": kind=words, entries=0");
  }

  /** What is no file of the disk may end in an error at any byte. */
  @Test
  void shouldSayWhatCannotBeReadOrWritten() throws IOException {
    String memory = "/proc/self/mem";
    assertRefused(1, memory + ", line 1: Input/output", "data", "import", memory, "a");
    assertThat(importText(WORDS + END)).isZero();
    Path file = path("text");
    Path made = path("made");
    Path lines =
        Files.writeString(path("lines"), WORDS.replace("words\"", "words\",\"codecs\":\"a\\nb\""));
    assertRefused(2, "codecs=a?b", "data", "import", "" + lines, "" + path("a"));
    assertRefused(1, "no folder can be made", "data", "import", "" + file, "/proc/nothing");
    assertRefused(1, "it is no folder", "data", "import", "" + file, file + "/a");
    assertRefused(1, "cannot be written: file=/proc/a", "data", "export", "" + made, "/proc/a");
    try (FolderReader reader = FolderReader.open(made);
        Writer full = new OutputStreamWriter(new FileOutputStream("/dev/full"), UTF_8)) {
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(() -> DataExport.write(reader, full, () -> false))
          .withMessage("No space left on device");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"export -", "dump", "dump --log"})
  void shouldNoticeThatItsOutputIsFull(String command) throws IOException {
    assertThat(importText(WORDS + "{\"key\":1,\"value\":2}\n" + END)).isZero();
    try (DataFolder opened = DataFolder.open(path("made"), "words", SMALL)) {
      append(opened.begin(), new RecordBuilder().putWord(3, 4));
    }
    List<String> arguments = new ArrayList<>(List.of(("data " + command).split(" ")));
    arguments.add(2, "" + path("made"));
    PrintStream before = System.out;
    try (PrintStream full = new PrintStream(new FileOutputStream("/dev/full"), true)) {
      System.setOut(full);
      CommandLine pando = Main.commandLine().setErr(new PrintWriter(err));
      assertThat(pando.execute(arguments.toArray(String[]::new))).isOne();
    } finally {
      System.setOut(before);
    }
    assertThat(err.toString()).contains("the output cannot be written");
  }

  @Test
  void shouldNotTouchWhatIsThere() throws IOException {
    assertThat(importText(WORDS + END)).isZero();
    Path made = path("made");
    assertRefused(2, "the folder is not empty", "data", "import", "" + path("text"), "" + made);
    assertRefused(2, "the file is there already", "data", "export", "" + made, "" + path("text"));
    assertRefused(2, "the file is there already", "data", "export", "" + made, "" + made);
    String other = "" + Files.writeString(path("d.new"), "of others");
    assertRefused(2, "there already: file=" + other, "data", "export", "" + made, "" + path("d"));
    assertThat(path("d.new")).hasContent("of others");
    assertRefused(2, "no such file", "data", "import", "" + path("nothing"), "" + path("b"));
    assertRefused(2, "it is no file of entries", "data", "import", "" + directory, "" + path("b"));
    assertRefused(2, "no such folder", "data", "export", "" + path("nothing"), "" + path("c"));
    assertRefused(1, "cannot be written", "data", "export", "" + made, "" + path("nothing/c"));
    Files.createFile(Files.createDirectory(path("cut-off")).resolve("unfinished"));
    String cutOff = "" + path("cut-off");
    assertRefused(2, "remove the folder", "data", "import", "" + path("text"), cutOff);
    assertRefused(2, "'FILE'", "data", "export", "" + made);
    assertThat(path("b")).doesNotExist();
    assertThat(path("c")).doesNotExist();
  }

  @Test
  void shouldExportNothingOfADamagedFolder() throws IOException {
    Path folder = path("damaged");
    try (DataFolder opened = DataFolder.open(folder, "words", SMALL)) {
      Log log = opened.begin();
      for (int i = 0; i < 5_000; i++) {
        append(log, new RecordBuilder().putWord(i, i));
      }
    }
    DataFolder.open(folder, "words", SMALL).close(); // It sorts the log.
    try (Stream<Path> files = Files.list(folder)) {
      Path sorted =
          files.filter(file -> file.toString().contains("sorted-")).findFirst().orElseThrow();
      byte[] bytes = Files.readAllBytes(sorted);
      bytes[5_000] ^= 1;
      Files.write(sorted, bytes);
    }
    assertRefused(1, "is damaged", "data", "export", "" + folder, "" + path("file"));
    assertThat(path("file")).doesNotExist();
    assertThat(path("file.new")).doesNotExist();
  }
}
