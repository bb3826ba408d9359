package pando.cli;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.Writer;
import java.lang.foreign.MemorySegment;
import pando.journal.DamagedFolderException;
import pando.journal.EntryWords;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;

/** Writes an {@link EntryFile}. Not thread-safe. */
final class EntryFileWriter implements AutoCloseable {
  private static final JsonFactory JSON =
      JsonFactory.builder()
          .rootValueSeparator("\n")
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .disable(StreamWriteFeature.AUTO_CLOSE_CONTENT)
          .build();

  private final JsonGenerator json;
  private final boolean isOfWords;

  /** Writes the first line to a writer, which this one flushes and does not close. */
  EntryFileWriter(Writer to, String kind, String codecs) {
    json = JSON.createGenerator(ObjectWriteContext.empty(), to);
    isOfWords = EntryFile.isOfWords(kind);
    json.writeStartObject();
    json.writeStringProperty("format", EntryFile.FORMAT);
    json.writeStringProperty("kind", kind);
    if (!codecs.isEmpty()) {
      json.writeStringProperty("codecs", codecs);
    }
    json.writeEndObject();
  }

  /** Writes the line of an entry. */
  void write(MemorySegment key, MemorySegment value) {
    json.writeStartObject();
    if (isOfWords) {
      json.writeNumberProperty("key", EntryWords.key(word(key)));
      json.writeNumberProperty("value", EntryWords.value(word(value)));
    } else {
      json.writeName("key").writeBinary(key.toArray(JAVA_BYTE));
      json.writeName("value").writeBinary(value.toArray(JAVA_BYTE));
    }
    json.writeEndObject();
  }

  private static MemorySegment word(MemorySegment bytes) {
    if (bytes.byteSize() != Long.BYTES) {
      throw new DamagedFolderException("an entry is not of words: bytes=" + bytes.byteSize());
    }
    return bytes;
  }

  /** Writes the last line. */
  void end() {
    json.writeStartObject();
    json.writeBooleanProperty("end", true);
    json.writeEndObject();
    json.writeRaw('\n');
    json.flush();
  }

  @Override
  public void close() {
    json.close();
  }
}
