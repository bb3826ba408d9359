package pando.sim.history;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Histories as text, a line for each entry, operation or scan, in any order:
 *
 * <pre>
 *   # a comment
 *   initial KEY VALUE
 *   CLIENT START END get KEY = VALUE|none
 *   CLIENT START END put|put-if-absent|update KEY STORED = VALUE|none
 *   CLIENT START END remove KEY = VALUE|none
 *   CLIENT START unknown put KEY STORED
 *   CLIENT START END scan FROM TO = KEY:VALUE ...
 * </pre>
 *
 * <p>What stands behind {@code =} is what was there before, or what a scan returned. The end {@code
 * unknown} is that of an operation whose outcome the client never learned.
 */
public final class HistoryText {
  private static final String NONE = "none";
  private static final String UNKNOWN = "unknown";

  private HistoryText() {}

  /** Writes a history. */
  public static void write(History history, Writer out) throws IOException {
    out.write("# initial KEY VALUE | CLIENT START END OPERATION KEY [STORED] = BEFORE\n");
    for (var entry : history.initial().entrySet()) {
      out.write("initial " + entry.getKey() + " " + entry.getValue() + "\n");
    }
    for (Operation operation : history.operations()) {
      out.write(line(operation) + "\n");
    }
    for (Scan scan : history.scans()) {
      out.write(line(scan) + "\n");
    }
  }

  private static String line(Operation operation) {
    StringBuilder line = new StringBuilder();
    line.append(operation.client()).append(' ').append(operation.start()).append(' ');
    line.append(operation.isKnown() ? String.valueOf(operation.end()) : UNKNOWN).append(' ');
    line.append(name(operation.kind())).append(' ').append(operation.key());
    if (stores(operation.kind())) {
      line.append(' ').append(operation.stored());
    }
    if (operation.isKnown()) {
      line.append(" = ").append(operation.wasThere() ? String.valueOf(operation.before()) : NONE);
    }
    return line.toString();
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
   * @throws IllegalArgumentException where a line is none, with its number
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
        add(history, new Words(text));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "line " + number + ": " + e.getMessage() + ": " + text, e);
      }
    }
    return history;
  }

  private static void add(History history, Words words) {
    if (words.peek().equals("initial")) {
      words.next();
      history.addInitial(words.number(), words.number());
      words.end();
      return;
    }
    int client = words.client();
    long start = words.number();
    boolean unknown = words.peek().equals(UNKNOWN);
    long end = unknown ? Operation.UNKNOWN : words.number();
    if (unknown) {
      words.next();
    }
    if (end < start) {
      throw new IllegalArgumentException("ends before it starts");
    }
    if (words.peek().equals("scan")) {
      words.next();
      history.add(scan(client, start, end, words));
    } else {
      history.add(operation(client, start, end, words));
    }
    words.end();
  }

  private static Operation operation(int client, long start, long end, Words words) {
    Operation.Kind kind = kind(words.next());
    long key = words.number();
    long stored = stores(kind) ? words.number() : 0;
    if (end == Operation.UNKNOWN) {
      return new Operation(client, start, end, kind, key, stored, false, 0);
    }
    words.expect("=");
    boolean wasThere = !words.peek().equals(NONE);
    long before = 0;
    if (wasThere) {
      before = words.number();
    } else {
      words.next();
    }
    return new Operation(client, start, end, kind, key, stored, wasThere, before);
  }

  private static Scan scan(int client, long start, long end, Words words) {
    long from = words.number();
    long to = words.number();
    words.expect("=");
    List<Scan.Entry> entries = new ArrayList<>();
    while (words.hasNext()) {
      String[] parts = words.next().split(":", -1);
      if (parts.length != 2) {
        throw new IllegalArgumentException("an entry is KEY:VALUE");
      }
      entries.add(new Scan.Entry(Words.number(parts[0]), Words.number(parts[1])));
    }
    return new Scan(client, start, end, from, to, entries);
  }

  private static boolean stores(Operation.Kind kind) {
    return kind != Operation.Kind.GET && kind != Operation.Kind.REMOVE;
  }

  private static String name(Operation.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static Operation.Kind kind(String name) {
    for (Operation.Kind kind : Operation.Kind.values()) {
      if (name(kind).equals(name)) {
        return kind;
      }
    }
    throw new IllegalArgumentException("no such operation: '" + name + "'");
  }

  /** The words of one line, one after the other. */
  private static final class Words {
    private final String[] words;
    private int next;

    Words(String text) {
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
