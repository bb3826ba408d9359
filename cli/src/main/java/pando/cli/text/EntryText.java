package pando.cli.text;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import pando.durable.DurableIndex;
import pando.journal.EntryWords;
import pando.journal.RecordVisitor;

/** Entries and records of data folders as lines of text. */
public final class EntryText {
  private final boolean isOfWords;

  private EntryText(boolean isOfWords) {
    this.isOfWords = isOfWords;
  }

  /** Returns how entries of a kind of folder are shown. */
  public static EntryText ofKind(String kind) {
    return new EntryText(kind.equals(DurableIndex.KIND));
  }

  /** Returns the line of an entry: key, tab, value. */
  public String line(MemorySegment key, MemorySegment value) {
    return key(key) + '\t' + value(value);
  }

  /** Returns the line of a record: its place, what it is, and, if it has them, key and value. */
  public String line(long place, RecordVisitor.Kind kind, MemorySegment key, MemorySegment value) {
    String begin = Long.toHexString(place) + '\t' + kind.name().toLowerCase(Locale.ROOT);
    return switch (kind) {
      case PUT -> begin + '\t' + line(key, value);
      case REMOVE -> begin + '\t' + key(key);
      case SYNCED, CLOSED -> begin + '\t' + Long.toHexString(EntryWords.value(value));
      case PAD, GROUP -> begin;
    };
  }

  private String key(MemorySegment key) {
    return isOfWords && key.byteSize() == Long.BYTES
        ? Long.toString(EntryWords.key(key))
        : ByteText.shown(key);
  }

  private String value(MemorySegment value) {
    return isOfWords && value.byteSize() == Long.BYTES
        ? Long.toString(EntryWords.value(value))
        : ByteText.shown(value);
  }
}
