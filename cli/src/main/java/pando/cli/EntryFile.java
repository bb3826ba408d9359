package pando.cli;

import java.util.List;
import pando.durable.DurableIndex;
import pando.durable.DurableStrings;

/**
 * The entries of a data folder as text that other programs can read and write: JSON in UTF-8, with
 * one object on each line.
 *
 * <pre>
 * {"format":"pando-entries 1","kind":"byte-strings","codecs":"strings longs"}
 * {"key":"YXBwbGU=","value":"cmVk"}
 * {"end":true}
 * </pre>
 *
 * <p>The first line may lack the codecs. The kind is {@code byte-strings}, whose keys and values
 * are in base64 (RFC 4648, section 4, with its padding); or {@code words}, whose keys and values
 * are integers of 64 bits with a sign. The last line shows that the file is whole. Pando writes
 * entries in ascending order of their keys, as unsigned bytes; it reads them in any order, and of
 * entries with the same key the last one counts.
 */
final class EntryFile {
  /** In place of a file's name: standard output or input. */
  static final String STANDARD = "-";

  static final String FORMAT = "pando-entries 1";
  static final List<String> KINDS = List.of(DurableStrings.KIND, DurableIndex.KIND);

  private EntryFile() {}

  /** Returns whether keys and values are numbers. */
  static boolean isOfWords(String kind) {
    return kind.equals(DurableIndex.KIND);
  }
}
