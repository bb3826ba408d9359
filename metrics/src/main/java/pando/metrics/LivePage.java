package pando.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Collectors;

/** The page for people: one document that loads nothing else, with uPlot inside. */
final class LivePage {
  /** What a browser may do for it: run what is inside, and read the events. */
  static final String POLICY =
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
          + " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

  /** The scripts of the page, in the order in which they run. */
  static final List<String> SCRIPTS =
      List.of("terms.js", "parts.js", "live.js", "cluster.js", "events.js");

  private static final byte[] DOCUMENT = document().getBytes(UTF_8);

  private LivePage() {}

  /** Returns the document, which must not be changed. */
  static byte[] bytes() {
    return DOCUMENT;
  }

  private static String document() {
    return resource("live.html")
        .replace("/*uplot.css*/", resource("uplot/uPlot.min.css"))
        .replace("/*live.css*/", resource("live.css"))
        .replace("/*uplot.js*/", resource("uplot/uPlot.iife.min.js"))
        .replace(
            "/*scripts*/", SCRIPTS.stream().map(LivePage::resource).collect(Collectors.joining()));
  }

  static String resource(String name) {
    try (InputStream in = LivePage.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("a resource is missing: name=" + name);
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
