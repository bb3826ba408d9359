package pando.bench.report;

import static tools.jackson.core.JsonToken.END_ARRAY;
import static tools.jackson.core.JsonToken.END_OBJECT;
import static tools.jackson.core.JsonToken.PROPERTY_NAME;
import static tools.jackson.core.JsonToken.START_ARRAY;
import static tools.jackson.core.JsonToken.START_OBJECT;
import static tools.jackson.core.JsonToken.VALUE_NULL;
import static tools.jackson.core.JsonToken.VALUE_NUMBER_FLOAT;
import static tools.jackson.core.JsonToken.VALUE_NUMBER_INT;
import static tools.jackson.core.JsonToken.VALUE_STRING;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import pando.bench.figure.Figure;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads results of figures. It refuses what {@link FigureJson} does not write, fields in another
 * order, too; the refusal is one line that names the place.
 */
final class FigureJsonReader {
  /** More than a hundred times what results of all figures take. */
  private static final long BYTES_MAX = 16 << 20;

  /** Numbers of figures are zero, or from here. */
  private static final double LEAST = 1e-9;

  private static final double GREATEST = 1e12;

  private static final int REFUSAL_LENGTH_MAX = 300;

  private final JsonParser json;

  private FigureJsonReader(JsonParser json) {
    this.json = json;
  }

  static List<FigureResult> read(Path file) throws IOException {
    if (!Files.isReadable(file) || !Files.isRegularFile(file)) {
      throw new IllegalArgumentException(file + ": not a file that can be read");
    }
    if (Files.size(file) > BYTES_MAX) {
      throw new IllegalArgumentException(file + ": larger than " + BYTES_MAX + " bytes");
    }
    byte[] bytes = Files.readAllBytes(file);
    try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), bytes)) {
      try {
        return new FigureJsonReader(json).results();
      } catch (JacksonException e) {
        throw refusal(file, json, e.getOriginalMessage(), e);
      } catch (IllegalArgumentException e) {
        throw refusal(file, json, String.valueOf(e.getMessage()), e);
      }
    }
  }

  private static IllegalArgumentException refusal(
      Path file, JsonParser json, String reason, RuntimeException cause) {
    String line = reason.replaceAll("\\p{Cntrl}+", " ");
    String shown =
        line.length() > REFUSAL_LENGTH_MAX ? line.substring(0, REFUSAL_LENGTH_MAX) + "..." : line;
    int number = json.currentLocation().getLineNr();
    return new IllegalArgumentException("%s, line %d: %s".formatted(file, number, shown), cause);
  }

  private List<FigureResult> results() {
    next("the file", START_ARRAY);
    List<FigureResult> results = rest(this::result);
    if (json.nextToken() != null) {
      throw new IllegalArgumentException("something stands behind the results");
    }
    return results;
  }

  /** Reads an array whose start was read. */
  private <T> List<T> rest(Supplier<T> element) {
    List<T> elements = new ArrayList<>();
    while (json.nextToken() != END_ARRAY) {
      elements.add(element.get());
    }
    return elements;
  }

  /** Reads an object whose start is the current token. */
  private FigureResult result() {
    check("a result", START_OBJECT);
    String name = field("figure", VALUE_STRING).getString();
    Figure figure =
        Figure.named(name)
            .orElseThrow(() -> new IllegalArgumentException("no such figure: name=" + name));
    long records = field("records", VALUE_NUMBER_INT).getLongValue();
    long seed = field("seed", VALUE_NUMBER_INT).getLongValue();
    field("commit", VALUE_STRING, VALUE_NULL);
    String commit = isNull() ? null : json.getString();
    field("lines", START_ARRAY);
    List<FigureLine> lines = rest(this::line);
    next("the result's end", END_OBJECT);
    return new FigureResult(figure, records, seed, commit, lines);
  }

  private FigureLine line() {
    check("a line", START_OBJECT);
    String what = field("what", VALUE_STRING).getString();
    String measure = field("measure", VALUE_STRING).getString();
    field("paper", VALUE_NUMBER_FLOAT, VALUE_NUMBER_INT, VALUE_NULL);
    double paper = isNull() ? FigureLine.NOT_GIVEN : number("paper");
    field("ours", VALUE_NUMBER_FLOAT, VALUE_NUMBER_INT);
    double ours = number("ours");
    next("the line's end", END_OBJECT);
    return new FigureLine(what, measure, paper, ours);
  }

  private boolean isNull() {
    return json.currentToken() == VALUE_NULL;
  }

  /** Returns the current token as a number of a figure. */
  private double number(String field) {
    double number = json.getDoubleValue();
    if (number != 0 && !(number >= LEAST && number <= GREATEST)) {
      throw new IllegalArgumentException("not a number of a figure: " + field + "=" + number);
    }
    return number;
  }

  /** Goes on to the value of a field, which is one of some kinds. */
  private JsonParser field(String name, JsonToken... expected) {
    next("field " + name, PROPERTY_NAME);
    if (!json.currentName().equals(name)) {
      throw new IllegalArgumentException(
          "another field: expected=" + name + ", found=" + json.currentName());
    }
    return next(name, expected);
  }

  private JsonParser next(String what, JsonToken... expected) {
    json.nextToken();
    check(what, expected);
    return json;
  }

  private void check(String what, JsonToken... expected) {
    JsonToken found = json.currentToken();
    if (!Arrays.asList(expected).contains(found)) {
      throw new IllegalArgumentException(
          "%s should be %s, found=%s".formatted(what, expected[0], found));
    }
  }
}
