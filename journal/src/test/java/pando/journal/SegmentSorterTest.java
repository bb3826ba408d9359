package pando.journal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class SegmentSorterTest {
  private final SplittableRandom random = new SplittableRandom(JournalSeeds.of(3404));

  private static SegmentSorter sorter(List<Entry<String, Optional<String>>> records) {
    long bytes = 0;
    for (Entry<String, Optional<String>> record : records) {
      bytes += record.getKey().length() + record.getValue().orElse("").length() + 3;
    }
    MemorySegment memory = EntryModel.bytes("\u00ee".repeat((int) bytes));
    SegmentSorter sorter = new SegmentSorter(memory);
    long at = 0;
    for (Entry<String, Optional<String>> record : records) {
      byte[] key = record.getKey().getBytes(ISO_8859_1);
      byte[] value = record.getValue().orElse("").getBytes(ISO_8859_1);
      MemorySegment.copy(key, 0, memory, ValueLayout.JAVA_BYTE, at, key.length);
      MemorySegment.copy(value, 0, memory, ValueLayout.JAVA_BYTE, at + key.length, value.length);
      sorter.add(at, key.length, record.getValue().isPresent() ? value.length : -1);
      at += key.length + value.length + 3;
    }
    return sorter;
  }

  private static void assertSorts(List<Entry<String, Optional<String>>> records)
      throws IOException {
    TreeMap<String, Optional<String>> expected = new TreeMap<>();
    records.forEach(record -> expected.put(record.getKey(), record.getValue()));
    SegmentSorter sorter = sorter(records);
    assertThat(EntryModel.read(sorter.sorted())).isEqualTo(EntryModel.list(expected));
    assertThat(EntryModel.read(sorter.sorted())).hasSameSizeAs(expected.keySet());
  }

  private List<Entry<String, Optional<String>>> draw(int count, Supplier<String> keys) {
    List<Entry<String, Optional<String>>> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      records.add(Map.entry(keys.get(), EntryModel.drawValue(random, true)));
    }
    return records;
  }

  private String drawWord() {
    StringBuilder word = new StringBuilder();
    for (int i = 0; i < Long.BYTES; i++) {
      word.append((char) random.nextInt(256));
    }
    return word.toString();
  }

  @Test
  void shouldHaveTheLastRecordOfEachKey() throws IOException {
    for (int i = 0; i < JournalSeeds.count(1_000, 10_000, 300_000); i++) {
      assertSorts(draw(random.nextInt(300), () -> EntryModel.drawKey(random)));
    }
  }

  @Test
  void shouldSortManyWords() throws IOException {
    assertSorts(draw(100_000, this::drawWord));
    assertSorts(draw(100_000, () -> "\u0080\0\0\0\0\0" + drawWord().substring(6)));
  }

  @Test
  void shouldSortKeysWithOneBeginning() throws IOException {
    String begin = "https://example.org/a/long/way/that/all/keys/have/";
    for (int i = 0; i < 20; i++) {
      String start = begin.substring(0, i);
      assertSorts(draw(500, () -> start + drawWord().substring(7)));
    }
    assertSorts(draw(20_000, () -> begin + drawWord().substring(random.nextInt(9))));
    assertSorts(draw(20_000, () -> begin.substring(0, random.nextInt(begin.length()))));
    assertSorts(draw(20_000, () -> "\0".repeat(random.nextInt(100))));
  }

  @Test
  void shouldSortOneKeyManyTimes() throws IOException {
    assertSorts(draw(20_000, () -> "hot"));
    assertSorts(draw(20_000, () -> ""));
    assertSorts(draw(20_000, () -> random.nextInt(3) == 0 ? "a key of more bytes" : drawWord()));
  }

  @Test
  void shouldSortTheLongestKeys() throws IOException {
    String begin = "x".repeat(65_534);
    assertSorts(draw(200, () -> begin + (char) random.nextInt(256)));
    // Each key ends where others go on, as deep as a segment allows.
    assertSorts(draw(1_000, () -> begin.substring(random.nextInt(begin.length()))));
  }

  @Test
  void shouldSortNothing() throws IOException {
    assertSorts(List.of());
  }

  @Test
  void shouldTakeNothingBehindItsEnd() {
    SegmentSorter sorter = sorter(List.of(Map.entry("a", Optional.of("1"))));
    sorter.sorted().close();
    assertThatThrownBy(() -> sorter.add(0, 1, 1)).isInstanceOf(IllegalStateException.class);
  }
}
