package pando.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import pando.index.IndexSystem;
import pando.index.Systems;
import picocli.CommandLine;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** Runs a command of the command line, and keeps what it tells. */
@Timeout(300)
public abstract class CommandFixture {
  public final StringWriter out = new StringWriter();
  public final StringWriter err = new StringWriter();

  @TempDir public Path directory;

  public static Stream<String> systems() {
    return Systems.all().stream().map(IndexSystem::name);
  }

  public static String found(StringWriter told, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(told.toString());
    assertThat(found.find()).as(told.toString()).isTrue();
    return found.group(1);
  }

  public static String read(URI uri) {
    try (InputStream answer = uri.toURL().openStream()) {
      return new String(answer.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public int execute(List<String> arguments) {
    return execute(arguments.toArray(String[]::new));
  }

  public int execute(String... arguments) {
    CommandLine pando = Main.commandLine();
    pando.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return pando.execute(arguments);
  }

  /** Reads an array of objects, whose fields become text, but for those that hold several. */
  public static List<Map<String, String>> objects(Path file) {
    List<Map<String, String>> objects = new ArrayList<>();
    try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), file)) {
      assertThat(json.nextToken()).isEqualTo(JsonToken.START_ARRAY);
      while (json.nextToken() == JsonToken.START_OBJECT) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String name = json.nextName(); name != null; name = json.nextName()) {
          JsonToken value = json.nextToken();
          fields.put(name, value.isScalarValue() ? json.getString() : "");
          json.skipChildren();
        }
        objects.add(fields);
      }
      assertThat(json.currentToken()).isEqualTo(JsonToken.END_ARRAY);
      assertThat(json.nextToken()).isNull();
    }
    return objects;
  }

  public static double number(Map<String, String> object, String field) {
    return Double.parseDouble(object.getOrDefault(field, "NaN"));
  }
}
