package pando.sim.history;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Histories as text, a line for each entry, operation or scan, in any order:
 *
 * <pre>
 *   # a comment
 *   initial KEY VALUE
 *   CLIENT START END get KEY = VALUE|none
 *   CLIENT START END put|put-if-absent|update KEY STORED = VALUE|none
 *   CLIENT START END remove KEY = VALUE|none
 *   CLIENT START END replace KEY STORED EXPECTED = VALUE|none
 *   CLIENT START END remove-expected KEY EXPECTED = VALUE|none
 *   CLIENT START END store KEY STORED
 *   CLIENT START END discard KEY
 *   CLIENT START unknown put|put-if-absent|update|store KEY STORED
 *   CLIENT START unknown remove|discard KEY
 *   CLIENT START unknown replace KEY STORED EXPECTED
 *   CLIENT START unknown remove-expected KEY EXPECTED
 *   CLIENT START END scan FROM TO = KEY:VALUE ...
 *   lost START END LEAST GREATEST [since TIME]
 * </pre>
 *
 * <p>Behind {@code =} is the value before the operation, or the result of a scan, which descends
 * where FROM is above TO. {@code lost} are changes of a range that a compute server had not written
 * back; with {@code since}, none that had ended before that time. The end {@code unknown} marks an
 * operation whose outcome the client never learned.
 */
public final class HistoryText {
  private static final String NONE = "none";
  private static final String UNKNOWN = "unknown";
  private static final String LOST = "lost";
  private static final String SINCE = "since";

  private HistoryText() {}

  /** Writes a history. */
  public static void write(History history, Writer out) throws IOException {
    out.write(
        "# initial KEY VALUE | CLIENT START END OPERATION KEY [STORED] [EXPECTED] = BEFORE\n");
    for (var entry : history.initial().entrySet()) {
      out.write("initial " + entry.getKey() + " " + entry.getValue() + "\n");
    }
    for (RecordedOperation operation : history.operations()) {
      out.write(line(operation) + "\n");
    }
    for (Scan scan : history.scans()) {
      out.write(line(scan) + "\n");
    }
    for (Loss loss : history.losses()) {
      out.write(line(loss) + "\n");
    }
  }

  private static String line(RecordedOperation operation) {
    StringBuilder line = new StringBuilder();
    line.append(operation.client()).append(' ').append(operation.start()).append(' ');
    line.append(operation.isKnown() ? String.valueOf(operation.end()) : UNKNOWN).append(' ');
    line.append(operation.kind()).append(' ').append(operation.key());
    if (operation.kind().stores()) {
      line.append(' ').append(operation.stored());
    }
    if (operation.kind().compares()) {
      line.append(' ').append(operation.expected());
    }
    if (operation.isKnown() && operation.kind().answers()) {
      line.append(" = ").append(operation.before() == null ? NONE : operation.before());
    }
    return line.toString();
  }

  private static String line(Loss loss) {
    String line =
        "%s %d %d %d %d".formatted(LOST, loss.start(), loss.end(), loss.least(), loss.greatest());
    return loss.since() == Loss.EVER ? line : line + " " + SINCE + " " + loss.since();
  }

  private static String line(Scan scan) {
    StringBuilder line = new StringBuilder();
    line.append(scan.client()).append(' ').append(scan.start()).append(' ').append(scan.end());
    line.append(" scan ").append(scan.from()).append(' ').append(scan.to()).append(" =");
    scan.entries()
        .forEach(entry -> line.append(' ').append(entry.key()).append(':').append(entry.value()));
    return line.toString();
  }

  /**
   * Reads a history.
   *
   * @throws IllegalArgumentException if a line is not of the format; the message has its number
   */
  public static History read(BufferedReader in) throws IOException {
    History history = new History();
    int number = 0;
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      number++;
      String text = line.strip();
      if (text.isEmpty() || text.startsWith("#")) {
        continue;
      }
      try {
        add(history, new Tokens(text));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "line " + number + ": " + e.getMessage() + ": " + text, e);
      }
    }
    return history;
  }

  private static void add(History history, Tokens tokens) {
    if (tokens.peek().equals("initial")) {
      tokens.next();
      addInitial(history, tokens.number(), tokens.number());
      tokens.end();
      return;
    }
    if (tokens.peek().equals(LOST)) {
      tokens.next();
      history.add(loss(tokens));
      tokens.end();
      return;
    }
    int client = tokens.client();
    long start = tokens.number();
    boolean unknown = tokens.peek().equals(UNKNOWN);
    long end = unknown ? RecordedOperation.UNKNOWN : tokens.number();
    if (unknown) {
      tokens.next();
    }
    if (end < start) {
      throw new IllegalArgumentException("ends before it starts");
    }
    if (tokens.peek().equals("scan")) {
      tokens.next();
      history.add(scan(client, start, end, tokens));
    } else {
      history.add(operation(client, start, end, tokens));
    }
    tokens.end();
  }

  private static void addInitial(History history, long key, long value) {
    if (history.initial().containsKey(key)) {
      throw new IllegalArgumentException("a key has one initial value: key=" + key);
    }
    history.addInitial(key, value);
  }

  private static RecordedOperation operation(int client, long start, long end, Tokens tokens) {
    RecordedOperation.Kind kind = RecordedOperation.Kind.of(tokens.next());
    long key = tokens.number();
    long stored = kind.stores() ? tokens.number() : 0;
    long expected = kind.compares() ? tokens.number() : 0;
    if (end == RecordedOperation.UNKNOWN) {
      if (kind == RecordedOperation.Kind.GET) {
        throw new IllegalArgumentException("a get without an answer says nothing");
      }
      return RecordedOperation.unknown(client, start, kind, key, stored, expected);
    }
    if (!kind.answers()) {
      return new RecordedOperation(client, start, end, kind, key, stored, null);
    }
    tokens.expect("=");
    return new RecordedOperation(client, start, end, kind, key, stored, expected, tokens.value());
  }

  private static Loss loss(Tokens tokens) {
    long start = tokens.number();
    long end = tokens.number();
    long least = tokens.number();
    long greatest = tokens.number();
    if (end < start || greatest < least) {
      throw new IllegalArgumentException("ends before it starts");
    }
    long since = Loss.EVER;
    if (tokens.peek().equals(SINCE)) {
      tokens.expect(SINCE);
      since = tokens.number();
    }
    return new Loss(start, end, least, greatest, since);
  }

  private static Scan scan(int client, long start, long end, Tokens tokens) {
    if (end == RecordedOperation.UNKNOWN) {
      throw new IllegalArgumentException("a scan without an answer says nothing");
    }
    long from = tokens.number();
    long to = tokens.number();
    tokens.expect("=");
    List<Scan.Entry> entries = new ArrayList<>();
    while (tokens.hasNext()) {
      String[] parts = tokens.next().split(":", -1);
      if (parts.length != 2) {
        throw new IllegalArgumentException("an entry is KEY:VALUE");
      }
      entries.add(new Scan.Entry(Tokens.number(parts[0]), Tokens.number(parts[1])));
    }
    return new Scan(client, start, end, from, to, entries);
  }

  /** The words of one line, one after the other. */
  private static final class Tokens {
    private final String[] words;
    private int next;

    Tokens(String text) {
      words = text.split("\\s+");
    }

    boolean hasNext() {
      return next < words.length;
    }

    String peek() {
      return hasNext() ? words[next] : "";
    }

    String next() {
      if (!hasNext()) {
        throw new IllegalArgumentException("a word is missing");
      }
      return words[next++];
    }

    long number() {
      return number(next());
    }

    /** Reads a value, or the word for none. */
    @Nullable Long value() {
      if (peek().equals(NONE)) {
        next();
        return null;
      }
      return number();
    }

    int client() {
      long number = number();
      if (number != (int) number) {
        throw new IllegalArgumentException("client out of range: client=" + number);
      }
      return (int) number;
    }

    static long number(String word) {
      try {
        return Long.parseLong(word);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("'" + word + "' is not a number", e);
      }
    }

    void expect(String word) {
      String found = next();
      if (!found.equals(word)) {
        throw new IllegalArgumentException("'" + found + "' stands where '" + word + "' should");
      }
    }

    void end() {
      if (hasNext()) {
        throw new IllegalArgumentException("'" + peek() + "' is one word too many");
      }
    }
  }
}
