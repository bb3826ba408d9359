package pando.cli.cluster;

import java.io.StringWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import pando.cli.text.Numbers;
import pando.cli.text.TextTable;
import pando.client.Routes;
import pando.cluster.Change;
import pando.cluster.ClusterState;
import pando.cluster.Config;
import pando.cluster.Member;
import pando.cluster.PoolEntry;
import pando.index.Unwritten;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * How a cluster is.
 *
 * @param leader number of the compute server that leads
 * @param routes which compute server serves which keys, once there is an index
 * @param changes those that are not over, and the last that are
 */
public record ClusterReport(
    Optional<Config> config,
    Optional<Integer> leader,
    List<PoolEntry> memoryServers,
    List<Member> computeServers,
    Optional<Routes> routes,
    List<Change> changes) {
  private static final int LAST = 10;

  /** Reads it from the coordinator; what changes meanwhile may be seen in part. */
  public static ClusterReport of(ClusterState state) {
    List<Change> all = state.changes();
    int over = (int) all.stream().filter(Change::isOver).count();
    int skipped = Math.max(0, over - LAST);
    return new ClusterReport(
        state.config(),
        state.leader(),
        state.pool(),
        state.computeServers(),
        state.routes(),
        all.stream().filter(change -> !change.isOver() || all.indexOf(change) >= skipped).toList());
  }

  /** Returns one line about a change. */
  public static String text(Change change) {
    String why = change.why().isEmpty() ? "" : ": " + change.why();
    return "change %d, %s of compute server %d: %s%s"
        .formatted(change.id(), name(change.kind()), change.server(), name(change.state()), why);
  }

  private static String name(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** Returns the lines. */
  public String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            "index: %s, leader: %s%n%n",
            config.map(Config::system).orElse("none yet"),
            leader.map(number -> "compute server " + number).orElse("none")));
    TextTable memory = new TextTable(2, List.of("memory server", "address", "bytes", "state"));
    for (PoolEntry entry : memoryServers) {
      memory.add(
          List.of(
              String.valueOf(entry.number()),
              entry.address(),
              Numbers.bytes(entry.bytes()),
              name(entry.state())));
    }
    text.append(memory).append(System.lineSeparator()).append(computeTable());
    if (!changes.isEmpty()) {
      text.append(System.lineSeparator());
    }
    changes.forEach(change -> text.append(text(change)).append(System.lineSeparator()));
    return text.toString();
  }

  private TextTable computeTable() {
    TextTable compute =
        new TextTable(
            2,
            List.of(
                "compute server",
                "clients",
                "epoch",
                "state",
                "entries",
                "unwritten",
                "keys from",
                "share of all keys"));
    for (Member member : computeServers) {
      compute.add(
          List.of(
              String.valueOf(member.number()),
              member.address(),
              String.valueOf(member.epoch()),
              name(member.state()),
              "~" + Numbers.count(member.entries()),
              unwritten(member.unwritten()),
              low(member.number()).map(String::valueOf).orElse("no range"),
              share(member.number()).map(Numbers::percent).orElse("")));
    }
    return compute;
  }

  private static String unwritten(Unwritten unwritten) {
    if (unwritten.bytes() == 0) {
      return "nothing";
    }
    String age =
        unwritten.nanosMax() == Long.MAX_VALUE
            ? "of any age"
            : "of " + Numbers.decimal(unwritten.secondsMax(), 1) + " s";
    return "~" + Numbers.bytes(unwritten.bytes()) + " " + age;
  }

  private Optional<Long> low(int number) {
    return routes.stream()
        .flatMap(found -> found.routes().stream())
        .filter(route -> route.owner() == number)
        .map(Routes.Route::low)
        .findFirst();
  }

  private Optional<Double> share(int number) {
    return routes
        .filter(Routes::isPartitioned)
        .flatMap(found ->
            IntStream.range(0, found.routes().size())
                .filter(range -> found.routes().get(range).owner() == number)
                .mapToObj(range -> found.partitioning().shareOfRange(range))
                .findFirst());
  }

  /** Returns it as one JSON object. */
  public String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      write(json);
      json.writeEndObject();
    }
    return text + System.lineSeparator();
  }

  /** Writes it as properties of an object. */
  public void write(JsonGenerator json) {
    config.ifPresent(found -> json.writeStringProperty("index", found.system()));
    leader.ifPresent(number -> json.writeNumberProperty("leader", number));
    json.writeArrayPropertyStart("memoryServers");
    memoryServers.forEach(entry -> write(json, entry));
    json.writeEndArray();
    json.writeArrayPropertyStart("computeServers");
    computeServers.forEach(member -> write(json, member));
    json.writeEndArray();
    json.writeArrayPropertyStart("ranges");
    routes.filter(Routes::isPartitioned).ifPresent(found -> writeRanges(json, found));
    json.writeEndArray();
    json.writeArrayPropertyStart("changes");
    changes.forEach(change -> write(json, change));
    json.writeEndArray();
  }

  private static void writeRanges(JsonGenerator json, Routes routes) {
    for (int range = 0; range < routes.routes().size(); range++) {
      Routes.Route route = routes.routes().get(range);
      json.writeStartObject();
      json.writeNumberProperty("server", route.owner());
      json.writeStringProperty("from", String.valueOf(route.low()));
      json.writeBooleanProperty("served", !route.address().isEmpty());
      json.writeNumberProperty("share", routes.partitioning().shareOfRange(range));
      json.writeEndObject();
    }
  }

  private static void write(JsonGenerator json, PoolEntry entry) {
    json.writeStartObject();
    json.writeNumberProperty("number", entry.number());
    json.writeStringProperty("address", entry.address());
    json.writeNumberProperty("bytes", entry.bytes());
    json.writeStringProperty("state", entry.state().name());
    json.writeEndObject();
  }

  private void write(JsonGenerator json, Member member) {
    json.writeStartObject();
    json.writeNumberProperty("number", member.number());
    json.writeNumberProperty("epoch", member.epoch());
    json.writeStringProperty("address", member.address());
    json.writeStringProperty("machine", member.machine());
    json.writeNumberProperty("process", member.process());
    json.writeStringProperty("state", member.state().name());
    json.writeNumberProperty("entries", member.entries());
    json.writeNumberProperty("unwrittenBytes", member.unwritten().bytes());
    double seconds = member.unwritten().secondsMax();
    if (Double.isFinite(seconds)) {
      json.writeNumberProperty("unwrittenSeconds", seconds);
    }
    // As text: it may be beyond what numbers of JSON hold exactly.
    low(member.number()).ifPresent(low -> json.writeStringProperty("from", String.valueOf(low)));
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Change change) {
    json.writeStartObject();
    json.writeNumberProperty("id", change.id());
    json.writeStringProperty("kind", change.kind().name());
    json.writeStringProperty("state", change.state().name());
    json.writeNumberProperty("server", change.server());
    json.writeStringProperty("why", change.why());
    json.writeEndObject();
  }
}
