package pando.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This version opens the folders that releases have written. Each release has one of words and one
 * of byte strings, with two sorted files and a log, which {@link #write} makes; some changes count
 * together. That of words was closed, and that of byte strings was copied while it was open.
 */
class ReleasedFoldersTest {
  /** All releases. CONTRIBUTING.md says how another one is added. */
  private static final List<String> RELEASES = List.of("0.1.0");

  private static final String WORDS = "words";
  private static final String STRINGS = "byte-strings";
  private static final String CODECS = "longs longs";

  private static final LogOptions SMALL =
      new LogOptions(SyncPolicy.NO, LogOptions.SEGMENT_BYTES_MIN);

  /** Changes of each start, so few behind the first that nothing is merged. */
  private static final int[] CHANGES = {300, 50, 30};

  /** Numbers of keys that are changed together with others. */
  private static final int GROUPED = 1_000;

  @TempDir private Path directory;

  private final List<MemorySegment> keys = new ArrayList<>();
  private final SortedMap<String, String> model = new TreeMap<>();

  /** Appends a change, and makes it in the model. */
  private void change(Log log, String kind, int number) {
    boolean removes = isRemoval(number);
    MemorySegment key = removes ? keys.get(number % CHANGES[0]) : key(kind, number);
    RecordBuilder record = new RecordBuilder();
    if (removes) {
      record.remove(key);
      model.remove(hex(key));
    } else {
      MemorySegment value = value(kind, number);
      model.put(hex(key), hex(value));
      keys.add(key);
      if (isGrouped(number)) {
        MemorySegment other = key(kind, number + GROUPED);
        record.group().addPut(key, value).addPut(other, value);
        model.put(hex(other), hex(value));
      } else {
        record.put(key, value);
      }
    }
    log.reserve(record.bytes());
    log.append(record);
  }

  private static boolean isRemoval(int number) {
    return number % 5 == 4 && number > CHANGES[0];
  }

  private static boolean isGrouped(int number) {
    return number % 7 == 3 && !isRemoval(number);
  }

  private static MemorySegment key(String kind, int number) {
    if (kind.equals(STRINGS)) {
      return bytes(("key " + number * 37 % 311).repeat(number % 4));
    }
    MemorySegment word = MemorySegment.ofArray(new byte[Long.BYTES]);
    EntryWords.setKey(word, 0, (number * 37L % 311 - 100) << number % 50);
    return word;
  }

  private static MemorySegment value(String kind, int number) {
    if (kind.equals(STRINGS)) {
      return bytes(("value " + number + ' ').repeat(number % 60 == 7 ? 200 : number % 3));
    }
    MemorySegment word = MemorySegment.ofArray(new byte[Long.BYTES]);
    EntryWords.setValue(word, 0, number * 0x9E37_79B9_7F4A_7C15L);
    return word;
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  private static String hex(MemorySegment bytes) {
    return HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE));
  }

  /** Makes all changes in a folder, and zips it. */
  private void write(Path folder, String kind, OutputStream zip) throws IOException {
    int number = 0;
    for (int start = 0; start < CHANGES.length; start++) {
      try (DataFolder opened = DataFolder.open(folder, kind, SMALL)) {
        if (start == 0 && kind.equals(WORDS)) {
          opened.setCodecs(CODECS);
        }
        Log log = opened.begin();
        for (int i = 0; i < CHANGES[start]; i++) {
          change(log, kind, number++);
        }
        log.awaitSynced(log.end());
        if (start == CHANGES.length - 1 && kind.equals(STRINGS)) {
          zip(folder, zip);
        }
      }
    }
    if (kind.equals(WORDS)) {
      zip(folder, zip);
    }
  }

  private static void zip(Path folder, OutputStream to) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(to);
        Stream<Path> files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        String name = String.valueOf(file.getFileName());
        if (!FolderLock.isOwn(name)) {
          zip.putNextEntry(new ZipEntry(name));
          Files.copy(file, zip);
        }
      }
    }
  }

  private static void unzip(InputStream from, Path folder) throws IOException {
    Files.createDirectories(folder);
    try (ZipInputStream zip = new ZipInputStream(from)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Files.copy(zip, folder.resolve(entry.getName()));
      }
    }
  }

  private static String resource(String release, String kind) {
    return "folders/%s/%s.zip".formatted(release, kind);
  }

  static Stream<String[]> folders() {
    return RELEASES.stream()
        .flatMap(release -> Stream.of(WORDS, STRINGS).map(kind -> new String[] {release, kind}));
  }

  @ParameterizedTest
  @MethodSource("folders")
  void shouldOpenTheFolderOfARelease(String release, String kind) throws IOException {
    write(directory.resolve("now"), kind, OutputStream.nullOutputStream());
    Path folder = directory.resolve("then");
    InputStream zip = getClass().getResourceAsStream(resource(release, kind));
    unzip(requireNonNull(zip), folder);
    assertIsTheModel(folder, kind);
    FolderReport report = FolderCheck.of(folder);
    assertThat(report.problems()).isEmpty();
    assertThat(report.sortedFiles()).isEqualTo(2);
    int first = CHANGES[0] + CHANGES[1];
    long grouped =
        IntStream.range(first, first + CHANGES[2]).filter(ReleasedFoldersTest::isGrouped).count();
    assertThat(report.records()).isEqualTo(CHANGES[2] + grouped);
    assertThat(grouped).isPositive();
    assertThat(report.isClosed()).isEqualTo(kind.equals(WORDS));
    for (int start = 0; start < 2; start++) {
      try (DataFolder opened = DataFolder.open(folder, kind, SMALL)) {
        assertThat(opened.codecs()).isEqualTo(kind.equals(WORDS) ? CODECS : "");
        Log log = opened.begin();
        opened.merge();
        for (int i = 0; i < CHANGES[0]; i++) {
          change(log, kind, i);
        }
      }
      assertIsTheModel(folder, kind);
    }
    assertThat(FolderCheck.of(folder).problems()).isEmpty();
  }

  private void assertIsTheModel(Path folder, String kind) throws IOException {
    SortedMap<String, String> found = new TreeMap<>();
    try (FolderReader reader = FolderReader.open(folder);
        EntryStream entries = reader.entries()) {
      assertThat(reader.kind()).isEqualTo(kind);
      while (entries.next()) {
        found.put(hex(entries.key()), hex(entries.value()));
      }
    }
    assertThat(found).isEqualTo(model).hasSizeGreaterThan(100);
  }

  @ParameterizedTest
  @ValueSource(strings = {WORDS, STRINGS})
  @EnabledIfSystemProperty(
      named = "pando.release",
      matches = ".+",
      disabledReason = "writes files, for a new release")
  void writeTheFolderOfThisRelease(String kind) throws IOException {
    Path file =
        Path.of("src/test/resources/pando/journal")
            .resolve(resource(System.getProperty("pando.release"), kind));
    Files.createDirectories(requireNonNull(file.getParent()));
    try (OutputStream to = Files.newOutputStream(file)) {
      write(directory.resolve("new"), kind, to);
    }
  }
}
