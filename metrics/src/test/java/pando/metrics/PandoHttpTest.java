package pando.metrics;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.LastError;
import pando.index.Metered;
import pando.index.Meters;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

@Timeout(300)
class PandoHttpTest {
  private static final int TIMEOUT_MILLIS = 30_000;
  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-z_]+)((?:\\{[a-z]+=\"[^\"]*\"(?:,[a-z]+=\"[^\"]*\")*})?) ([-+0-9.E]+|NaN)");

  private SmallIndex small;
  private PandoHttp http;

  @BeforeEach
  void open() throws IOException {
    small = SmallIndex.open(Systems.named("orca"));
    http = PandoHttp.serve(small.index(), 0);
  }

  @AfterEach
  void close() {
    http.close();
    small.close();
  }

  // What it tells.

  @Test
  void shouldTellMetersAsPrometheusText() throws IOException {
    small.operate(1_000);
    Response response = get("/metrics");
    assertThat(response.status).isEqualTo(200);
    assertThat(response.type).isEqualTo("text/plain; version=0.0.4; charset=utf-8");
    Map<String, Double> samples = parse(response.body);
    assertThat(samples)
        .containsEntry(info("orca"), 1.0)
        .containsEntry("pando_trips_total", (double) small.index().verbs().roundTrips)
        .containsEntry(
            "pando_cache_hits_total{level=\"leaf\"}", (double) small.index().cache().leafHits())
        .containsKeys(
            "pando_pool_bytes{ms=\"1\",state=\"used\"}",
            "process_resident_memory_bytes",
            "jvm_memory_used_bytes{area=\"nonheap\",id=\"Metaspace\"}");
  }

  @Test
  void shouldTellMetersOfByteStrings() throws IOException {
    try (Fabric fabric = LocalFabric.open(PoolOptions.defaults().withBytesPerServer(64 << 20))) {
      ByteOptions options = ByteOptions.defaults();
      // Changes wait for longer than the test.
      ByteIndex index =
          ByteIndex.create(
              fabric, options.withLabels(options.labels().withWriteBackNanos(60_000_000_000L)));
      try (ByteSession session = index.session()) {
        for (int i = 0; i < 110; i++) {
          if (i == 100) {
            index.space(); // merges all changes that wait
          }
          byte[] key = {(byte) (i % 100)};
          session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(new byte[50]));
        }
      }
      http.show(index);
      VerbCounters verbs = index.verbs();
      assertThat(verbs.writes).isGreaterThanOrEqualTo(10);
      assertThat(parse(get("/metrics").body))
          .containsEntry(info("byte-strings"), 1.0)
          .containsEntry("pando_verbs_total{kind=\"read\"}", (double) verbs.reads)
          .containsEntry("pando_verbs_total{kind=\"write\"}", (double) verbs.writes)
          .containsEntry("pando_bytes_total{dir=\"in\"}", (double) verbs.bytesIn)
          .containsEntry("pando_bytes_total{dir=\"out\"}", (double) verbs.bytesOut)
          .containsEntry("pando_blocks", 1.0)
          .containsEntry("pando_changes_waiting", 10.0)
          .containsEntry("pando_index_bytes", (double) index.poolBytes())
          .containsEntry("pando_cache_bytes", (double) index.cachedBytes())
          .containsEntry(
              "pando_cache_share_bytes{of=\"directory\"}", (double) index.directoryBytes());
      try (Events events = new Events()) {
        assertThat(events.next()).contains("\"system\":\"byte-strings\"", "\"partitions\":[]");
      }
      assertThat(get("/health/ready")).isEqualTo(healthy());
      index.close();
      assertThat(get("/health/ready").status).isEqualTo(503);
    }
  }

  private static String info(String system) {
    return "pando_info{fabric=\"local\",system=\"%s\",version=\"%s\"}"
        .formatted(system, RegistryMeters.VERSION);
  }

  /** Every sample is of a metric that has its type and its help before it, and is there once. */
  private static Map<String, Double> parse(String text) {
    Map<String, Double> samples = new HashMap<>();
    Set<String> typed = new HashSet<>();
    for (String line : text.lines().toList()) {
      if (line.startsWith("# TYPE ")) {
        String name = line.substring("# TYPE ".length(), line.lastIndexOf(' '));
        assertThat(typed.add(name)).as(line).isTrue();
      } else if (!line.startsWith("# HELP ")) {
        Matcher sample = SAMPLE.matcher(line);
        assertThat(sample.matches()).as(line).isTrue();
        assertThat(typed).contains(sample.group(1));
        String name = sample.group(1) + sample.group(2);
        assertThat(samples.put(name, Double.valueOf(sample.group(3)))).as(line).isNull();
      }
    }
    return samples;
  }

  @Test
  void shouldShowAPageThatNeedsNothingElse() throws IOException {
    Response response = get("/");
    assertThat(response.status).isEqualTo(200);
    assertThat(response.type).isEqualTo("text/html; charset=utf-8");
    // Not by the text itself, which a failure would print.
    for (String part : List.of("<!doctype html>", "var uPlot=", "new EventSource('/events')")) {
      assertThat(response.body.contains(part)).as(part).isTrue();
    }
    for (String loads : List.of(" src=", "href=\"http", "url(", "@import", "import(", "fetch(")) {
      assertThat(response.body.contains(loads)).as(loads).isFalse();
    }
  }

  @Test
  void shouldSendNumbersThatMove() throws IOException {
    small.operate(1_000);
    try (Events events = new Events()) {
      Map<String, Double> first = numbers(events.next());
      small.operate(4_000);
      Map<String, Double> second = numbers(events.next());
      assertThat(number(first, "opened")).isEqualTo(1);
      assertThat(number(second, "millis")).isGreaterThan(number(first, "millis"));
      assertThat(number(second, "pando.verbs{kind=read}"))
          .isEqualTo((double) small.index().verbs().reads)
          .isGreaterThan(number(first, "pando.verbs{kind=read}"));
      assertThat(number(second, "share")).isBetween(0.3, 0.4);
    }
  }

  @Test
  void shouldTellHealthUptimeVersionAndKeys() throws IOException {
    small.operate(1_000);
    try (Events events = new Events()) {
      String event = events.next();
      assertThat(event)
          .contains("\"version\":\"" + RegistryMeters.VERSION + "\"", "\"reasons\":[]")
          .doesNotContain("lastError");
      assertThat(numbers(event)).containsEntry("pando.keys", 1_000.0);
      assertThat(number(numbers(event), "pando.uptime.seconds")).isPositive();
      small.close();
      // One from before may be on its way.
      String last = events.next();
      assertThat(last.contains("\"reasons\":[]") ? events.next() : last)
          .contains("\"reasons\":[\"closed\"]");
    }
  }

  @Test
  void shouldTellTheLastError() throws IOException {
    http.show(
        over(
            small.fabric(),
            Optional.of(new LastError("\"ERR\",\n</script><img src=x onerror=alert(1)>", 42))));
    try (Events events = new Events()) {
      // One line, as each event has to be, with what is between quotation marks left in it.
      assertThat(events.next())
          .contains(
              "\"lastError\":{\"what\":\"\\\"ERR\\\",\\n</script><img src=x onerror=alert(1)>\","
                  + "\"millis\":42}");
    }
  }

  @Test
  void shouldShowTextsAsTextsAlone() {
    for (String name : LivePage.SCRIPTS) {
      assertThat(LivePage.resource(name))
          .as(name)
          .doesNotContain(
              "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(");
    }
  }

  @Test
  void shouldKeepWhatWasSeenWithoutAPage() throws IOException {
    http.show(new CountedLooks());
    String first;
    try (Events events = new Events()) {
      first = events.next();
      assertThat(first).contains("\"cluster\":{\"looks\":1}", "\"system\":\"test\"");
      assertThat(numbers(events.nextOther(first)))
          .containsKey("pando.looks")
          .doesNotContainKey("pando.verbs{kind=read}");
    }
    // The browser went away and comes back.
    try (Events events = new Events()) {
      assertThat(events.next()).isEqualTo(first);
      assertThat(number(numbers(events.nextOther(first)), "looks")).isGreaterThan(1);
    }
    assertThat(get("/health/ready").body).isEqualTo("{\"ok\":false,\"reasons\":[\"a < b\"]}");
    assertThat(get("/metrics").body).contains("pando_looks ", "system=\"test\"");
    http.show(small.index());
    try (Events events = new Events()) {
      assertThat(events.next()).contains("\"system\":\"orca\"");
    }
  }

  /** Counts how often it is looked at. */
  private static final class CountedLooks implements Watched {
    private final AtomicInteger looks = new AtomicInteger();

    @Override
    public String name() {
      return "test";
    }

    @Override
    public String json() {
      return "{\"looks\":" + looks.incrementAndGet() + "}";
    }

    @Override
    public List<String> hindrances() {
      return List.of("a < b");
    }

    @Override
    public void meters(Meters to) {
      to.gauge("pando.looks", "How often it was looked at.", looks::get);
    }
  }

  @Test
  void shouldKeepTenMinutes() {
    List<String> rows = RowHistory.kept(List.of(), "0");
    for (int i = 1; i < 2 * RowHistory.ROWS_MAX; i++) {
      rows = RowHistory.kept(rows, String.valueOf(i));
    }
    assertThat(rows).hasSize(RowHistory.ROWS_MAX).first().isEqualTo("600");
    assertThat(rows).last().isEqualTo("1199");
  }

  /** Or nothing would be noted any more, and the page would stay as it was. */
  @Test
  void shouldKeepRowsBehindOneThatCannotBeMade() {
    boolean[] fails = new boolean[1];
    LiveFeed feed =
        new LiveFeed(
            new SimpleMeterRegistry(),
            () -> {
              if (fails[0]) {
                throw new IllegalStateException("planted");
              }
              return List.of();
            },
            json -> {},
            1);
    try (RowHistory history = new RowHistory(feed, () -> 0)) {
      fails[0] = true;
      history.keep(1);
      fails[0] = false;
      history.keep(2);
      assertThat(history.rows()).hasSize(2);
    }
  }

  @Test
  void shouldShowTheNextIndex() throws IOException {
    try (SmallIndex next = SmallIndex.open(Systems.named("dex"));
        Events events = new Events()) {
      assertThat(numbers(events.next())).containsEntry("opened", 1.0);
      http.show(next.index());
      assertThat(numbers(events.next())).containsEntry("opened", 2.0);
      assertThat(parse(get("/metrics").body)).containsKey(info("dex"));
    }
  }

  /** Returns the numbers of an event by their names; of those in lists the last. */
  private static Map<String, Double> numbers(String event) {
    Map<String, Double> numbers = new HashMap<>();
    try (JsonParser json =
        new JsonFactory().createParser(ObjectReadContext.empty(), event.getBytes(UTF_8))) {
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        if (token.isNumeric()) {
          numbers.put(json.currentName(), json.getDoubleValue());
        }
      }
    }
    return numbers;
  }

  private static double number(Map<String, Double> numbers, String name) {
    assertThat(numbers).containsKey(name);
    return numbers.getOrDefault(name, Double.NaN);
  }

  @Test
  void shouldAnswerHeadWithoutABody() throws IOException {
    for (String path : List.of("/", "/metrics", "/events", "/health/ready")) {
      Response response = request("HEAD", path);
      assertThat(response.status).as(path).isEqualTo(200);
      assertThat(response.body).as(path).isEmpty();
    }
  }

  // Health.

  @Test
  void shouldBeReady() throws IOException {
    assertThat(get("/health/live")).isEqualTo(healthy());
    assertThat(get("/health/ready")).isEqualTo(healthy());
  }

  private static Response healthy() {
    return new Response(200, "application/json", "{\"ok\":true,\"reasons\":[]}");
  }

  @Test
  void shouldNotBeReadyOnceTheIndexIsClosed() throws IOException {
    small.close();
    assertThat(get("/health/live").status).isEqualTo(200);
    Response response = get("/health/ready");
    assertThat(response.status).isEqualTo(503);
    assertThat(response.body).isEqualTo("{\"ok\":false,\"reasons\":[\"closed\"]}");
    assertThat(get("/metrics").status).isEqualTo(200);
    try (Events events = new Events()) {
      assertThat(events.next()).contains("\"closed\":true");
    }
  }

  @Test
  void shouldNotBeReadyWithoutAnIndex() throws IOException {
    try (PandoHttp none = PandoHttp.open(PandoHttp.loopback(0))) {
      assertThat(get(none, "/health/live").status).isEqualTo(200);
      assertThat(get(none, "/health/ready").status).isEqualTo(503);
      assertThat(get(none, "/health/ready").body).contains("nothing is shown yet");
      none.opening(() -> "3 of 4 are loaded");
      assertThat(get(none, "/health/ready").body)
          .isEqualTo("{\"ok\":false,\"reasons\":[\"3 of 4 are loaded\"]}");
      assertThat(get(none, "/metrics").status).isEqualTo(503);
      assertThat(get(none, "/").status).isEqualTo(200);
    }
  }

  @Test
  void shouldNotWaitForAMemoryServerThatDoesNotAnswer() throws IOException {
    CountDownLatch answers = new CountDownLatch(1);
    try {
      http.show(over(silent(small.fabric(), 1, answers)));
      Response ready = get("/health/ready");
      assertThat(ready.status).isEqualTo(503);
      assertThat(ready.body).contains("memory server 1: no answer").doesNotContain("server 0");
      Map<String, Double> samples = parse(get("/metrics").body);
      assertThat(samples.get("pando_pool_bytes{ms=\"0\",state=\"used\"}")).isPositive();
      assertThat(samples.get("pando_pool_bytes{ms=\"1\",state=\"used\"}")).isNaN();
      try (Events events = new Events()) {
        assertThat(numbers(events.next()))
            .containsKey("pando.pool.bytes{ms=0,state=used}")
            .doesNotContainKey("pando.pool.bytes{ms=1,state=used}");
      }
    } finally {
      answers.countDown();
    }
    Response again;
    do {
      again = get("/health/ready");
    } while (again.status != 200);
    assertThat(again).isEqualTo(healthy());
  }

  /** Returns the index, but for its fabric. */
  private Metered over(Fabric fabric) {
    return over(fabric, Optional.empty());
  }

  private Metered over(Fabric fabric, Optional<LastError> lastError) {
    RangeIndex index = small.index();
    return new Metered() {
      @Override
      public String name() {
        return index.name();
      }

      @Override
      public Fabric fabric() {
        return fabric;
      }

      @Override
      public VerbCounters verbs() {
        return index.verbs();
      }

      @Override
      public boolean isClosed() {
        return index.isClosed();
      }

      @Override
      public Optional<LastError> lastError() {
        return lastError;
      }

      @Override
      public void meters(Meters to) {
        index.meters(to);
      }
    };
  }

  /** Returns the fabric, but for a memory server that answers only once it may. */
  private static Fabric silent(Fabric fabric, int server, CountDownLatch answers) {
    return (Fabric)
        Proxy.newProxyInstance(
            Fabric.class.getClassLoader(),
            new Class<?>[] {Fabric.class},
            (_, method, arguments) -> {
              if (method.getName().equals("usage") && arguments[0].equals(server)) {
                answers.await();
              }
              try {
                return method.invoke(fabric, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  // Clients that do harm.

  @Test
  void shouldRefuseAPortThatIsTaken() throws IOException {
    int port = http.uri().getPort();
    assertThatThrownBy(() -> PandoHttp.serve(small.index(), port))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(":" + port)
        .hasMessageContaining("in use");
    assertThat(get("/health/ready").status).isEqualTo(200);
  }

  @Test
  void shouldRefuseWhatIsNoPort() {
    for (int port : new int[] {-1, 65_536}) {
      assertThatThrownBy(() -> PandoHttp.serve(small.index(), port))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(String.valueOf(port));
    }
  }

  @Test
  void shouldRefuseOtherPathsAndMethods() throws IOException {
    for (String path :
        List.of("/x", "/metrics/", "/a/../../etc/passwd", "/%2e%2e/", "/events?x/")) {
      int expected = path.startsWith("/events") ? 200 : 404;
      assertThat(request("HEAD", path).status).as(path).isEqualTo(expected);
    }
    for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS")) {
      assertThat(request(method, "/").status).as(method).isEqualTo(405);
    }
  }

  @Test
  void shouldLiveThroughHostileRequests() throws IOException {
    List<String> requests =
        List.of(
            "\0\0\0\0\r\n\r\n",
            "GET\r\n\r\n",
            "GET / HTTP/9.9\r\n\r\n",
            "GET mailto:a@b HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
            "GET / HTTP/1.1\r\n: no name\r\n no header\r\n\r\n",
            "GET /" + "a".repeat(1 << 20) + " HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\n" + "X: y\r\n".repeat(10_000) + "\r\n",
            "GET / HTTP/1.1\r\nX: " + "y".repeat(1 << 20) + "\r\n\r\n");
    for (String request : requests) {
      try (Socket socket = connect(http)) {
        socket.getOutputStream().write(request.getBytes(ISO_8859_1));
        socket.shutdownOutput();
        readAll(socket);
      } catch (SocketException e) {
        // Cut off before all of it was sent.
      }
      assertThat(get("/health/ready")).isEqualTo(healthy());
    }
  }

  @Test
  void shouldServeOthersBesideClientsThatDoNotRead() throws IOException {
    small.operate(1_000);
    try (PandoHttp strict = PandoHttp.open(PandoHttp.loopback(0), Duration.ofMillis(300));
        Socket silent = connect(strict)) {
      strict.show(small.index());
      // More pages than all buffers between the two can hold.
      String request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
      int requests = 1_000;
      silent.getOutputStream().write(request.repeat(requests).getBytes(ISO_8859_1));
      while (strict.cutOff() == 0) {
        assertThat(get(strict, "/metrics").status).isEqualTo(200);
      }
      long pages = (long) requests * LivePage.bytes().length;
      assertThat(readAll(silent)).isLessThan(pages);
    }
  }

  @Test
  void shouldServeOthersOnceSlowClientsAreCutOff() throws IOException {
    try (PandoHttp strict = PandoHttp.open(PandoHttp.loopback(0), Duration.ofMillis(300))) {
      strict.show(small.index());
      List<Socket> slow = new ArrayList<>();
      try {
        for (int i = 0; i < 2 * Exchanges.MAX; i++) {
          Socket socket = connect(strict);
          slow.add(socket);
          socket.getOutputStream().write("GET / HT".getBytes(ISO_8859_1));
        }
        for (Socket socket : slow) {
          assertThat(readAll(socket)).isLessThan(1_000);
        }
      } finally {
        for (Socket socket : slow) {
          socket.close();
        }
      }
      assertThat(get(strict, "/health/ready")).isEqualTo(healthy());
    }
  }

  @Tag("campaign")
  @Test
  void shouldBoundThePages() throws IOException {
    List<Events> pages = new ArrayList<>();
    try {
      for (int i = 0; i < PandoHttp.PAGES_MAX; i++) {
        Events events = new Events();
        pages.add(events);
        assertThat(events.next()).contains("meters");
      }
      Response refused = get("/events");
      assertThat(refused.status).isEqualTo(503);
      assertThat(refused.body).contains("too many pages");
      assertThat(get("/metrics").status).isEqualTo(200);
    } finally {
      for (Events events : pages) {
        events.close();
      }
    }
    // A client that went away is noticed by the second event that it does not take.
    Response response;
    do {
      response = request("HEAD", "/events");
    } while (response.status != 200);
    assertThat(response.body).isEmpty();
  }

  @Test
  void shouldDisconnectClientsWhenItCloses() throws IOException {
    int port = http.uri().getPort();
    try (Events events = new Events();
        Socket idle = connect(http)) {
      assertThat(events.next()).contains("meters");
      http.close();
      assertThat(events.rest()).isEmpty();
      assertThat(readAll(idle)).isZero();
    }
    http.close();
    // The port is free again.
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(http.uri().getHost(), port));
      assertThat(socket.isBound()).isTrue();
    }
  }

  // Requests.

  private record Response(int status, String type, String body) {}

  private Response get(String path) throws IOException {
    return get(http, path);
  }

  private static Response get(PandoHttp to, String path) throws IOException {
    return request(to, "GET", path);
  }

  private Response request(String method, String path) throws IOException {
    return request(http, method, path);
  }

  private static Response request(PandoHttp to, String method, String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) to.uri().resolve(path).toURL().openConnection();
    connection.setRequestMethod(method);
    connection.setConnectTimeout(TIMEOUT_MILLIS);
    connection.setReadTimeout(TIMEOUT_MILLIS);
    int status = connection.getResponseCode();
    try (InputStream in =
        status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      String body = in == null ? "" : new String(in.readAllBytes(), UTF_8);
      return new Response(status, connection.getContentType(), body);
    }
  }

  private static Socket connect(PandoHttp to) throws IOException {
    Socket socket = new Socket(to.uri().getHost(), to.uri().getPort());
    socket.setSoTimeout(TIMEOUT_MILLIS);
    return socket;
  }

  /** Reads until the server closes the connection; returns the number of bytes. */
  private static long readAll(Socket socket) throws IOException {
    long bytes = 0;
    byte[] buffer = new byte[1 << 16];
    try {
      InputStream in = socket.getInputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        bytes += read;
      }
    } catch (SocketException e) {
      // Closed by a reset.
    }
    return bytes;
  }

  /** A client of the events. */
  private final class Events implements AutoCloseable {
    private final Socket socket = connect(http);
    private final BufferedReader lines;

    Events() throws IOException {
      String request = "GET /events HTTP/1.1\r\nHost: x\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(ISO_8859_1));
      lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
    }

    /** Returns the data of the next event. */
    String next() throws IOException {
      String line;
      do {
        line = lines.readLine();
        assertThat(line).isNotNull();
      } while (!line.startsWith("data: "));
      return line.substring("data: ".length());
    }

    /** Returns the data of the next event that differs from one before. */
    String nextOther(String before) throws IOException {
      String data;
      do {
        data = next();
      } while (data.equals(before));
      return data;
    }

    /** Returns what comes until the end, without what frames it. */
    String rest() throws IOException {
      StringBuilder rest = new StringBuilder();
      try {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          rest.append(line.equals("0") ? "" : line);
        }
      } catch (SocketException e) {
        // Closed by a reset.
      }
      return rest.toString();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
