package pando.journal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Entries as tests have them. Keys and values are strings of Latin-1, whose order is that of their
 * bytes; without a value the key was removed.
 */
final class EntryModel {
  static final UUID FOLDER = UUID.fromString("5f0c0001-0203-0405-0607-08090a0b0c0d");

  private EntryModel() {}

  /** Returns the bytes of a string, in native memory as those of a log are. */
  static MemorySegment bytes(String string) {
    byte[] bytes = string.getBytes(ISO_8859_1);
    MemorySegment memory = Arena.ofAuto().allocate(bytes.length);
    return memory.copyFrom(MemorySegment.ofArray(bytes));
  }

  static String string(MemorySegment bytes) {
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), ISO_8859_1);
  }

  /** Draws a key: often short, often of equal beginnings, and with zeros and the greatest byte. */
  static String drawKey(SplittableRandom random) {
    String begin = random.nextInt(3) == 0 ? "customer/account/" : "";
    StringBuilder key = new StringBuilder(begin.substring(random.nextInt(begin.length() + 1)));
    int more = random.nextInt(random.nextInt(8) == 0 ? 40 : 10);
    for (int i = 0; i < more; i++) {
      key.append("\0\0\0\0\1az\u007f\u0080\u00ff".charAt(random.nextInt(10)));
    }
    return key.toString();
  }

  static Optional<String> drawValue(SplittableRandom random, boolean withRemovals) {
    return withRemovals && random.nextInt(3) == 0
        ? Optional.empty()
        : Optional.of("v".repeat(random.nextInt(20)) + random.nextInt());
  }

  static Map<String, Optional<String>> draw(
      SplittableRandom random, int most, boolean withRemovals) {
    TreeMap<String, Optional<String>> model = new TreeMap<>();
    int count = random.nextInt(most + 1);
    for (int i = 0; i < count; i++) {
      model.put(drawKey(random), drawValue(random, withRemovals));
    }
    return model;
  }

  /** Returns the bytes of a sorted file. */
  static byte[] write(Map<String, Optional<String>> model, boolean isBase, int blockBytes)
      throws IOException {
    return write(model, isBase, blockBytes, 0x0123_4567_89AB_CDEFL);
  }

  /** The same, with another salt. */
  static byte[] write(
      Map<String, Optional<String>> model, boolean isBase, int blockBytes, long salt)
      throws IOException {
    BytesFile file = new BytesFile();
    SortedFileHeader header = new SortedFileHeader(FOLDER, 0x1000, 0x2000, isBase, salt);
    try (SortedFileWriter writer = new SortedFileWriter(file, header, blockBytes)) {
      writer.append(stream(model));
      writer.finish();
    }
    return file.content();
  }

  /** Returns what a sorted file has, all of it read and checked. */
  static List<Entry<String, Optional<String>>> read(byte[] file) throws IOException {
    return read(SortedFile.open(new BytesFile(file), "sorted-7").entries());
  }

  /** Returns what a stream has, and closes it. */
  static List<Entry<String, Optional<String>>> read(EntryStream stream) throws IOException {
    List<Entry<String, Optional<String>>> entries = new ArrayList<>();
    try (stream) {
      while (stream.next()) {
        Optional<String> value =
            stream.isRemoved() ? Optional.empty() : Optional.of(string(stream.value()));
        entries.add(Map.entry(string(stream.key()), value));
      }
    }
    return entries;
  }

  /** Returns what a map has as a list. */
  static List<Entry<String, Optional<String>>> list(Map<String, Optional<String>> model) {
    return List.copyOf(model.entrySet());
  }

  /** Returns a stream of a map's entries. */
  static EntryStream stream(Map<String, Optional<String>> model) {
    return new ModelEntries(model.entrySet().iterator());
  }

  private static final class ModelEntries implements EntryStream {
    private final Iterator<Entry<String, Optional<String>>> entries;
    private Entry<String, Optional<String>> current = Map.entry("", Optional.empty());

    ModelEntries(Iterator<Entry<String, Optional<String>>> entries) {
      this.entries = entries;
    }

    @Override
    public boolean next() {
      if (!entries.hasNext()) {
        return false;
      }
      current = entries.next();
      return true;
    }

    @Override
    public MemorySegment key() {
      return bytes(current.getKey());
    }

    @Override
    public boolean isRemoved() {
      return current.getValue().isEmpty();
    }

    @Override
    public MemorySegment value() {
      return bytes(current.getValue().orElseThrow());
    }

    @Override
    public void close() {
      // A map needs none.
    }
  }
}
