package pando.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.SystemMemory;
import pando.index.Metered;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Shows an index, a map, a door or a cluster over HTTP, read-only:
 *
 * <ul>
 *   <li>{@code /} a page with its numbers, which moves each second and loads nothing from elsewhere
 *   <li>{@code /events} the numbers of that page, as server-sent events
 *   <li>{@code /metrics} all meters of {@link PandoMetrics}, as Prometheus text
 *   <li>{@code /health/live} 200: the process answers
 *   <li>{@code /health/ready} 200 if what is shown is open, its log takes changes, and each memory
 *       server answers within a second, else 503; JSON with the reasons
 * </ul>
 *
 * <p>There is no password: it listens on the loopback interface unless it is given another address.
 * It shows counts and sizes, no key and no value. Clients cannot do harm: at most 64 requests are
 * under way, 32 of them pages. A client that takes longer than 10 seconds to send its request, or
 * to take its response, is cut off; others are served meanwhile.
 *
 * <p>Thread-safe. Close it before the index, map or door that it shows, and before the fabric. If
 * one of these is closed first, clients get that as the reason.
 */
public final class PandoHttp implements AutoCloseable {
  /** How many clients can read events. */
  static final int PAGES_MAX = 32;

  private static final Duration TIME_MAX = Duration.ofSeconds(10);
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final JsonFactory JSON = new JsonFactory();
  private static final String CLUSTER = "cluster";
  private static final String NOTHING = "nothing is shown yet";
  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String JSON_TYPE = "application/json";
  private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

  private final HttpServer server;
  private final Exchanges exchanges;
  private final Semaphore pages = new Semaphore(PAGES_MAX);
  private final CountDownLatch closing = new CountDownLatch(1);
  private long shows;
  private final long start = System.nanoTime();
  private volatile @Nullable Shown shown;

  /** Says why nothing is shown. */
  private volatile Supplier<String> opening = () -> NOTHING;

  /** What is shown, and what shows it. */
  private record Shown(
      Supplier<List<String>> hindrances,
      PrometheusMeterRegistry registry,
      LiveFeed feed,
      @Nullable RowHistory history) {}

  private PandoHttp(HttpServer server, Duration timeMax) {
    this.server = server;
    this.exchanges = new Exchanges(timeMax);
    server.setExecutor(exchanges);
    server.createContext("/", this::handle);
    server.start();
  }

  /**
   * Shows an index, a map or a door on a port of the loopback interface.
   *
   * @param port 0 for any that is free, which {@link #uri} has
   * @throws IllegalArgumentException if the port is out of range
   * @throws BindException if the port is taken, or may not be used
   */
  public static PandoHttp serve(Metered metered, int port) throws IOException {
    PandoHttp http = open(loopback(port));
    try {
      http.show(metered);
      return http;
    } catch (RuntimeException | Error e) {
      http.close();
      throw e;
    }
  }

  /**
   * Listens on an address, and shows nothing yet.
   *
   * @throws BindException if the address is taken, or may not be used
   */
  public static PandoHttp open(InetSocketAddress address) throws IOException {
    return open(address, TIME_MAX);
  }

  /**
   * Returns a port of the loopback interface.
   *
   * @param port 0 for any that is free
   * @throws IllegalArgumentException if it is out of range
   */
  public static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  static PandoHttp open(InetSocketAddress address, Duration timeMax) throws IOException {
    HttpServer server;
    try {
      server = HttpServer.create(address, 0);
    } catch (IOException e) {
      BindException failure =
          new BindException("cannot listen: address=" + address + ", " + e.getMessage());
      failure.initCause(e);
      throw failure;
    }
    return new PandoHttp(server, timeMax);
  }

  /** Has {@code /health/ready} say what is done before something is shown, such as a load. */
  public void opening(Supplier<String> what) {
    opening = what;
  }

  /**
   * Shows an index, a map or a door from now on, in place of the one before.
   *
   * @param more further meters; those whose names start with {@code pando.} are among the events,
   *     and the page shows {@code pando.ops} and {@code pando.latency.seconds}
   */
  public void show(Metered metered, MeterBinder... more) {
    MemoryServers memoryServers = new MemoryServers(metered.fabric());
    PrometheusMeterRegistry registry = registry();
    new PandoMetrics(metered, memoryServers, Tags.empty()).bindTo(registry);
    for (MeterBinder binder : more) {
      binder.bindTo(registry);
    }
    show(
        () -> hindrances(metered, memoryServers),
        registry,
        json -> LiveFeed.write(json, metered),
        false);
  }

  /**
   * Shows something else from now on, and asks it each second: a page that opens gets what was seen
   * in the last ten minutes.
   */
  public void show(Watched watched) {
    PrometheusMeterRegistry registry = registry();
    RegistryMeters meters = new RegistryMeters(registry, watched, Tags.empty());
    meters.process(watched.name(), CLUSTER);
    watched.meters(meters);
    show(
        watched::hindrances,
        registry,
        json -> {
          json.writeStringProperty("system", watched.name());
          json.writeStringProperty("fabric", CLUSTER);
          json.writeName(CLUSTER);
          json.writeRawValue(watched.json());
        },
        true);
  }

  /** Returns a registry with what is known of the memory of this process. */
  private static PrometheusMeterRegistry registry() {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    new JvmMemoryMetrics().bindTo(registry);
    SystemMemory memory = SystemMemory.own();
    Gauge.builder("process.resident.memory", memory, SystemMemory::residentBytes)
        .description("What this process takes of the memory of the machine.")
        .baseUnit(BaseUnits.BYTES)
        .register(registry);
    return registry;
  }

  private synchronized void show(
      Supplier<List<String>> hindrances,
      PrometheusMeterRegistry registry,
      Consumer<JsonGenerator> own,
      boolean isKept) {
    Shown before = shown;
    LiveFeed feed = new LiveFeed(registry, hindrances, own, ++shows);
    shown =
        new Shown(hindrances, registry, feed, isKept ? new RowHistory(feed, this::second) : null);
    if (before != null && before.history != null) {
      before.history.close();
    }
  }

  /** Returns where the page is. */
  public URI uri() {
    InetSocketAddress address = server.getAddress();
    String host = address.getAddress().getHostAddress();
    String literal = host.contains(":") ? "[" + host + "]" : host;
    return URI.create("http://" + literal + ":" + address.getPort() + "/");
  }

  /** Returns how many clients were cut off, as they took too long. */
  long cutOff() {
    return exchanges.cutOff();
  }

  /** Stops listening, and disconnects all clients. */
  @Override
  public void close() {
    closing.countDown();
    Shown last = shown;
    if (last != null && last.history != null) {
      last.history.close();
    }
    exchanges.close();
    server.stop(0);
  }

  // Requests.

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String method = exchange.getRequestMethod();
      if (!method.equals("GET") && !method.equals("HEAD")) {
        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
        respond(exchange, 405, TEXT, "only GET and HEAD\n");
        return;
      }
      switch (exchange.getRequestURI().getPath()) {
        case "/" -> page(exchange);
        case "/events" -> events(exchange);
        case "/metrics" -> metrics(exchange);
        case "/health/live" -> health(exchange, List.of());
        case "/health/ready" -> health(exchange, hindrances());
        case null, default ->
            respond(
                exchange,
                404,
                TEXT,
                "there are /, /events, /metrics, /health/live and /health/ready\n");
      }
    }
  }

  private static void page(HttpExchange exchange) throws IOException {
    exchange.getResponseHeaders().set("Content-Security-Policy", LivePage.POLICY);
    respond(exchange, 200, "text/html; charset=utf-8", LivePage.bytes());
  }

  private void metrics(HttpExchange exchange) throws IOException {
    Shown now = shown;
    if (now == null) {
      respond(exchange, 503, TEXT, NOTHING + "\n");
    } else {
      respond(exchange, 200, PROMETHEUS, now.registry.scrape(PROMETHEUS));
    }
  }

  private static List<String> hindrances(Metered metered, MemoryServers memoryServers) {
    if (metered.isClosed()) {
      return List.of("closed");
    }
    List<String> all = new ArrayList<>(memoryServers.silent());
    all.addAll(metered.hindrances());
    return all;
  }

  /** Returns why what is shown is not ready. */
  private List<String> hindrances() {
    Shown now = shown;
    if (now == null) {
      return List.of(opening.get());
    }
    return now.hindrances.get();
  }

  private static void health(HttpExchange exchange, List<String> hindrances) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      json.writeBooleanProperty("ok", hindrances.isEmpty());
      writeReasons(json, hindrances);
      json.writeEndObject();
    }
    respond(exchange, hindrances.isEmpty() ? 200 : 503, JSON_TYPE, text.toString());
  }

  static void writeReasons(JsonGenerator json, List<String> hindrances) {
    json.writeArrayPropertyStart("reasons");
    hindrances.forEach(json::writeString);
    json.writeEndArray();
  }

  private void events(HttpExchange exchange) throws IOException {
    if (!pages.tryAcquire()) {
      respond(exchange, 503, TEXT, "too many pages are open: max=" + PAGES_MAX + "\n");
      return;
    }
    try {
      header(exchange, "text/event-stream");
      boolean headOnly = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(200, headOnly ? -1 : 0);
      if (!headOnly) {
        sendEvents(exchange.getResponseBody());
      }
    } finally {
      pages.release();
    }
  }

  /**
   * Sends what is kept, then an event each second, until the client has gone, or does not read, or
   * this is closed.
   */
  private void sendEvents(OutputStream out) throws IOException {
    Shown first = shown;
    if (first != null && first.history != null) {
      for (String numbers : first.history.rows()) {
        send(out, "event: past\ndata: ", numbers);
      }
    }
    long second;
    do {
      second = second();
      Shown now = shown;
      send(out, "data: ", now == null ? "{}" : now.feed.numbers(second));
    } while (!closesBefore(start + (second + 1) * SECOND_NANOS));
  }

  private void send(OutputStream out, String kind, String numbers) throws IOException {
    out.write((kind + numbers + "\n\n").getBytes(UTF_8));
    out.flush();
    exchanges.renew();
  }

  /** Returns how many seconds this is open. */
  private long second() {
    return (System.nanoTime() - start) / SECOND_NANOS;
  }

  private boolean closesBefore(long nanoTime) {
    try {
      return closing.await(nanoTime - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      // So that ending the response does not wait for its client either.
      Thread.currentThread().interrupt();
      return true;
    }
  }

  private static void respond(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    respond(exchange, status, type, text.getBytes(UTF_8));
  }

  private static void respond(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    header(exchange, type);
    boolean headOnly = exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(status, headOnly ? -1 : body.length);
    if (!headOnly) {
      exchange.getResponseBody().write(body);
    }
  }

  private static void header(HttpExchange exchange, String type) {
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.getResponseHeaders().set("Cache-Control", "no-store");
    exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
  }
}
