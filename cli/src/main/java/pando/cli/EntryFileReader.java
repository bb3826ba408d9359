package pando.cli;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.Base64;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.journal.EntryWords;
import pando.journal.FolderImport;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/** Reads an {@link EntryFile}. A refusal names the line. Not thread-safe. */
final class EntryFileReader implements AutoCloseable {
  /** The longest value of a folder, 16 MiB, in base64. */
  private static final int TEXT_MAX = ((16 << 20) + 2) / 3 * 4;

  private static final int NAME_MAX = 100;
  private static final int DIGITS_MAX = 20;
  private static final int SHOWN_MAX = 300;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(TEXT_MAX)
                  .maxNameLength(NAME_MAX)
                  .maxNumberLength(DIGITS_MAX)
                  .maxNestingDepth(1)
                  .build())
          .build();

  private final String file;
  private final JsonParser json;
  private String kind = "";
  private String codecs = "";
  private boolean isOfWords;
  private @Nullable MemorySegment key;
  private @Nullable MemorySegment value;

  /**
   * Reads the first line.
   *
   * @param from bytes of the file, which this one closes
   * @param file its name, for messages
   * @throws EntryFileException if it is none of such a file, or cannot be read
   */
  EntryFileReader(InputStream from, String file) {
    this.file = file;
    try {
      json = JSON.createParser(ObjectReadContext.empty(), from);
    } catch (JacksonException e) {
      throw wrong(e, 1);
    }
    try {
      readFirst();
    } catch (JacksonException | IllegalArgumentException e) {
      EntryFileException wrong = wrong(e);
      json.close();
      throw wrong;
    }
  }

  private EntryFileException wrong(RuntimeException cause) {
    return wrong(cause, json.currentLocation().getLineNr());
  }

  private EntryFileException wrong(RuntimeException cause, int lineNumber) {
    String why =
        cause instanceof JacksonException json
            ? json.getOriginalMessage()
            : String.valueOf(cause.getMessage());
    String line = why.replaceAll("\\p{Cntrl}+", " ");
    return new EntryFileException(
        "%s, line %d: %s"
            .formatted(
                file,
                lineNumber,
                line.length() > SHOWN_MAX ? line.substring(0, SHOWN_MAX) + "..." : line),
        cause);
  }

  private void readFirst() {
    String format = "";
    begin();
    for (String name = json.nextName(); name != null; name = json.nextName()) {
      switch (name) {
        case "format" -> format = text();
        case "kind" -> kind = text();
        case "codecs" -> codecs = text();
        default -> throw unknown(name);
      }
    }
    if (!format.equals(EntryFile.FORMAT) || !EntryFile.KINDS.contains(kind)) {
      throw new IllegalArgumentException(
          "no first line of entries: format=%s, known=%s, kind=%s, known=%s"
              .formatted(format, EntryFile.FORMAT, kind, EntryFile.KINDS));
    }
    isOfWords = EntryFile.isOfWords(kind);
  }

  /** Returns the kind of the entries. */
  String kind() {
    return kind;
  }

  /** Returns the names of the codecs; empty if there are none. */
  String codecs() {
    return codecs;
  }

  /**
   * Adds all entries to a folder.
   *
   * @throws EntryFileException if a line is none of such a file
   */
  void addTo(FolderImport folder) throws IOException {
    try {
      while (next()) {
        folder.add(Objects.requireNonNull(key), Objects.requireNonNull(value));
      }
    } catch (JacksonException | IllegalArgumentException e) {
      throw wrong(e);
    }
  }

  /** Reads a line; returns whether it is an entry's, and not the last one. */
  private boolean next() {
    boolean isEnd = false;
    key = null;
    value = null;
    begin();
    for (String name = json.nextName(); name != null; name = json.nextName()) {
      switch (name) {
        case "key" -> key = isOfWords ? keyWord() : bytes(name);
        case "value" -> value = isOfWords ? valueWord() : bytes(name);
        case "end" -> {
          expect(JsonToken.VALUE_TRUE);
          isEnd = true;
        }
        default -> throw unknown(name);
      }
    }
    boolean isEntry = key != null && value != null;
    if (isEntry == isEnd) {
      throw new IllegalArgumentException("a line has a key and a value, or the end");
    }
    if (isEnd && json.nextToken() != null) {
      throw new IllegalArgumentException("something is behind the end");
    }
    return isEntry;
  }

  private void begin() {
    JsonToken token = json.nextToken();
    if (token == null) {
      throw new IllegalArgumentException(
          "the file is not whole, as it does not end with {\"end\":true}");
    }
    check(token, JsonToken.START_OBJECT);
  }

  private void expect(JsonToken token) {
    check(json.nextToken(), token);
  }

  private static void check(JsonToken found, JsonToken expected) {
    if (found != expected) {
      throw new IllegalArgumentException("%s in place of %s".formatted(found, expected));
    }
  }

  private static IllegalArgumentException unknown(String name) {
    return new IllegalArgumentException("no field of this line: " + name);
  }

  private String text() {
    expect(JsonToken.VALUE_STRING);
    return json.getString();
  }

  private MemorySegment bytes(String name) {
    String text = text();
    try {
      return MemorySegment.ofArray(Base64.getDecoder().decode(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "the %s is no base64: %s".formatted(name, e.getMessage()), e);
    }
  }

  private MemorySegment keyWord() {
    MemorySegment bytes = word();
    EntryWords.setKey(bytes, 0, number());
    return bytes;
  }

  private MemorySegment valueWord() {
    MemorySegment bytes = word();
    EntryWords.setValue(bytes, 0, number());
    return bytes;
  }

  private static MemorySegment word() {
    return MemorySegment.ofArray(new byte[Long.BYTES]);
  }

  private long number() {
    expect(JsonToken.VALUE_NUMBER_INT);
    return json.getLongValue();
  }

  @Override
  public void close() {
    json.close();
  }
}
