package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Replies that wait to be sent, in RESP2 or RESP3. One for an event loop, whose connections use it
 * in turn.
 */
final class Replies {
  /** Greatest number of bytes of a reply. */
  static final int BYTES_MAX = 32 << 20;

  /** Greatest number of entries of a reply. */
  static final int ENTRIES_MAX = 10_000;

  private static final int BYTES_KEPT = 256 << 10;
  private static final byte[] OK = "+OK\r\n".getBytes(UTF_8);
  private static final byte[] NIL = "$-1\r\n".getBytes(UTF_8);
  private static final byte[] NO_ARRAY = "*-1\r\n".getBytes(UTF_8);
  private static final byte[] NULL = "_\r\n".getBytes(UTF_8);
  private static final String PLAIN_TEXT = "txt:";
  private static final int NUMBER_LINE_BYTES_MAX = 24;

  private byte[] bytes = new byte[BYTES_KEPT];
  private int size;
  private int start;
  private boolean isResp3;

  /** Returns the bytes of all replies. */
  int size() {
    return size;
  }

  /** Returns the array that the replies lie in, from its start. */
  byte[] bytes() {
    return bytes;
  }

  /** Forgets all replies. */
  void clear() {
    size = 0;
    start = 0;
    if (bytes.length > BYTES_KEPT) {
      bytes = new byte[BYTES_KEPT];
    }
  }

  /** Returns all replies, and forgets them. */
  byte[] take() {
    byte[] all = Arrays.copyOf(bytes, size);
    clear();
    return all;
  }

  /** Begins a reply. */
  void begin(boolean inResp3) {
    start = size;
    isResp3 = inResp3;
  }

  /** Says which protocol the reply that was begun is in. */
  void speak(boolean resp3) {
    isResp3 = resp3;
  }

  /** Returns how many bytes the reply that was begun has. */
  int written() {
    return size - start;
  }

  /** Cuts the reply that was begun off behind so many bytes. */
  void cut(int written) {
    size = start + written;
  }

  /** Adds a reply that was made elsewhere. */
  void whole(byte[] reply) {
    start = size;
    raw(reply);
  }

  void ok() {
    raw(OK);
  }

  void nil() {
    raw(isResp3 ? NULL : NIL);
  }

  void noArray() {
    raw(isResp3 ? NULL : NO_ARRAY);
  }

  /** Adds a line that says that something went well. */
  void simple(String line) {
    line('+', line);
  }

  /** Puts an error in the place of the reply that was begun. */
  void error(String message) {
    size = start;
    line('-', message);
  }

  void integer(long number) {
    numberLine(':', number);
  }

  /** Adds the head of an array, whose elements follow. */
  void array(int elements) {
    numberLine('*', elements);
  }

  /** Adds the head of a map, whose keys and values follow in turn. */
  void map(int entries) {
    numberLine(isResp3 ? '%' : '*', isResp3 ? entries : 2 * entries);
  }

  /** Adds the head of a set, whose elements follow. */
  void set(int elements) {
    numberLine(isResp3 ? '~' : '*', elements);
  }

  /** Adds a score. */
  void score(double score) {
    String text = Scores.text(score);
    if (isResp3) {
      line(',', text);
    } else {
      bulk(text);
    }
  }

  /** Adds text that is for people. */
  void text(String text) {
    if (isResp3) {
      byte[] string = (PLAIN_TEXT + text).getBytes(UTF_8);
      string('=', string, 0, string.length);
    } else {
      bulk(text);
    }
  }

  /** Adds a string; characters are encoded as UTF-8. */
  void bulk(String text) {
    bulk(text.getBytes(UTF_8));
  }

  void bulk(byte[] string) {
    bulk(string, 0, string.length);
  }

  void bulk(byte[] array, int from, int length) {
    string('$', array, from, length);
  }

  private void string(char mark, byte[] array, int from, int length) {
    numberLine(mark, length);
    ensure(length + 2);
    System.arraycopy(array, from, bytes, size, length);
    size += length;
    lineEnd();
  }

  /** Adds a string without the first bytes of a segment. */
  void bulkBehind(MemorySegment segment, int skipped) {
    int length = (int) segment.byteSize() - skipped;
    numberLine('$', length);
    ensure(length + 2);
    MemorySegment.copy(segment, JAVA_BYTE, skipped, bytes, size, length);
    size += length;
    lineEnd();
  }

  /** Puts the head of an array in front of its elements, which are all behind so many bytes. */
  void arrayBefore(int written, int elements) {
    insertBefore(written, "*" + elements + "\r\n");
  }

  /** Puts text in front of what is behind so many bytes of the reply. */
  void insertBefore(int written, String text) {
    byte[] head = text.getBytes(UTF_8);
    ensure(head.length);
    int at = start + written;
    System.arraycopy(bytes, at, bytes, at + head.length, size - at);
    System.arraycopy(head, 0, bytes, at, head.length);
    size += head.length;
  }

  private void line(char mark, String text) {
    byte[] line = text.replace('\r', ' ').replace('\n', ' ').getBytes(UTF_8);
    ensure(line.length + 3);
    bytes[size++] = (byte) mark;
    System.arraycopy(line, 0, bytes, size, line.length);
    size += line.length;
    lineEnd();
  }

  private void numberLine(char mark, long number) {
    ensure(NUMBER_LINE_BYTES_MAX);
    bytes[size++] = (byte) mark;
    size = Ascii.put(bytes, size, number);
    lineEnd();
  }

  /** Ends a line, for which there is room. */
  private void lineEnd() {
    bytes[size++] = '\r';
    bytes[size++] = '\n';
  }

  private void raw(byte[] line) {
    ensure(line.length);
    System.arraycopy(line, 0, bytes, size, line.length);
    size += line.length;
  }

  private void ensure(int more) {
    if (size - start + (long) more > BYTES_MAX) {
      throw new Refusal("ERR the reply is too large: maximum=" + BYTES_MAX + " bytes");
    }
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * size));
    }
  }
}
