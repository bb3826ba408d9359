package pando.bench.strings;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The lines of a file, each once; where more strings are wanted, copies of them, each behind the
 * number of its copy.
 */
public final class FileKeys implements StringKeySet {
  private static final long FIRST_COPY = 1_000_000_000;

  private final List<String> lines;
  private final long count;

  /**
   * Reads a file.
   *
   * @param count of strings, 0 for as many as there are lines
   * @throws IllegalArgumentException if the file has no lines
   */
  public FileKeys(Path file, long count) throws IOException {
    try (Stream<String> read = Files.lines(file, ISO_8859_1)) {
      this.lines = read.filter(line -> !line.isEmpty()).sorted().distinct().toList();
    }
    if (lines.isEmpty()) {
      throw new IllegalArgumentException("the file has no lines: file=" + file);
    }
    this.count = count == 0 ? lines.size() : count;
  }

  @Override
  public long count() {
    return count;
  }

  @Override
  public String key(long place) {
    String line = lines.get((int) (place % lines.size()));
    return count <= lines.size() ? line : copy(place / lines.size()) + line;
  }

  /** Returns what is before the lines of a copy: numbers of one length, in their order. */
  private static String copy(long number) {
    return Long.toString(FIRST_COPY + number) + "/";
  }
}
