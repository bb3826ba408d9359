package pando.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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
    next("the file", JsonToken.START_ARRAY);
    List<FigureResult> results = rest(this::result);
    if (json.nextToken() != null) {
      throw new IllegalArgumentException("something stands behind the results");
    }
    return results;
  }

  /** Reads an array whose start was read. */
  private <T> List<T> rest(Supplier<T> element) {
    List<T> elements = new ArrayList<>();
    while (json.nextToken() != JsonToken.END_ARRAY) {
      elements.add(element.get());
    }
    return elements;
  }

  /** Reads an object whose start is the current token. */
  private FigureResult result() {
    check("a result", JsonToken.START_OBJECT);
    String name = text("figure");
    Figure figure =
        Figure.named(name)
            .orElseThrow(() -> new IllegalArgumentException("no such figure: name=" + name));
    long records = whole("records");
    long seed = whole("seed");
    String commit = textOrNull("commit");
    field("lines");
    next("lines", JsonToken.START_ARRAY);
    List<FigureLine> lines = rest(this::line);
    next("the result's end", JsonToken.END_OBJECT);
    return new FigureResult(figure, records, seed, commit, lines);
  }

  private FigureLine line() {
    check("a line", JsonToken.START_OBJECT);
    String what = text("what");
    String measure = text("measure");
    field("paper");
    double paper =
        json.nextToken() == JsonToken.VALUE_NULL ? FigureLine.NOT_GIVEN : number("paper");
    field("ours");
    json.nextToken();
    double ours = number("ours");
    next("the line's end", JsonToken.END_OBJECT);
    return new FigureLine(what, measure, paper, ours);
  }

  private String text(String field) {
    field(field);
    next(field, JsonToken.VALUE_STRING);
    return json.getString();
  }

  private @Nullable String textOrNull(String field) {
    field(field);
    if (json.nextToken() == JsonToken.VALUE_NULL) {
      return null;
    }
    check(field, JsonToken.VALUE_STRING);
    return json.getString();
  }

  private long whole(String field) {
    field(field);
    next(field, JsonToken.VALUE_NUMBER_INT);
    return json.getLongValue();
  }

  /** Returns the current token as a number of a figure. */
  private double number(String field) {
    if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
      check(field, JsonToken.VALUE_NUMBER_FLOAT);
    }
    double number = json.getDoubleValue();
    if (number != 0 && !(number >= LEAST && number <= GREATEST)) {
      throw new IllegalArgumentException("not a number of a figure: " + field + "=" + number);
    }
    return number;
  }

  private void field(String name) {
    next("field " + name, JsonToken.PROPERTY_NAME);
    if (!json.currentName().equals(name)) {
      throw new IllegalArgumentException(
          "another field: expected=" + name + ", found=" + json.currentName());
    }
  }

  private void next(String what, JsonToken expected) {
    json.nextToken();
    check(what, expected);
  }

  private void check(String what, JsonToken expected) {
    JsonToken found = json.currentToken();
    if (found != expected) {
      throw new IllegalArgumentException(
          "%s should be %s, found=%s".formatted(what, expected, found));
    }
  }
}
