package pando.cli.cluster;

import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import pando.cli.text.ByteText;
import pando.cli.text.Numbers;
import pando.cli.text.TextTable;
import pando.client.Routes;
import pando.cluster.Change;
import pando.cluster.ClusterState;
import pando.cluster.Config;
import pando.cluster.Member;
import pando.cluster.PoolEntry;
import pando.cluster.Rebuild;
import pando.index.Partitioning;
import pando.index.Unwritten;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * How a cluster is.
 *
 * @param rebuild which data folder the next generation begins with, or why someone has to choose
 *     one
 * @param leader number of the compute server that leads
 * @param routes which compute server serves which keys, once there is an index
 * @param changes those that are not over, and the last that are
 */
public record ClusterReport(
    Optional<Config> config,
    Rebuild rebuild,
    Optional<Integer> leader,
    List<PoolEntry> memoryServers,
    List<Member> computeServers,
    Optional<Routes> routes,
    List<Change> changes) {
  private static final int LAST = 10;

  /** Bytes of a key that are shown. */
  private static final int SHOWN_BYTES_MAX = 40;

  /** Reads it from the coordinator; what changes meanwhile may be seen in part. */
  public static ClusterReport of(ClusterState state) {
    List<Change> all = state.changes();
    int over = (int) all.stream().filter(Change::isOver).count();
    int skipped = Math.max(0, over - LAST);
    return new ClusterReport(
        state.config(),
        state.rebuild(),
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
            "index: %s, log: %s%s, leader: %s%n%n",
            config.map(Config::system).orElse("none yet"),
            config.map(its -> its.log().toString()).orElse("none yet"),
            generation().map(number -> ", generation: " + number).orElse(""),
            leader.map(number -> "compute server " + number).orElse("none")));
    if (rebuild.isAwaited()) {
      text.append(String.format("%s%n%n", rebuild.problem()));
    }
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

  /** Returns which generation serves, where there are data folders. */
  private Optional<Long> generation() {
    return config.map(Config::generation).filter(number -> number > 0);
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
                isOfStrings() ? "share of entries" : "share of all keys"));
    for (Member member : computeServers) {
      compute.add(
          List.of(
              String.valueOf(member.number()),
              member.address(),
              String.valueOf(member.epoch()),
              name(member.state()),
              "~" + Numbers.count(member.entries()),
              unwritten(member.unwritten()),
              low(member.number()).orElse("no range"),
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

  private Optional<Partitioning> ranges() {
    return routes.filter(Routes::isPartitioned).map(Routes::partitioning);
  }

  private boolean isOfStrings() {
    return ranges().map(Partitioning::hasFences).orElse(false);
  }

  /** Returns with which key the range of a compute server begins, if it has one. */
  private Optional<String> low(int number) {
    return ranges()
        .filter(table -> table.hasServer(number))
        .map(table -> low(table, table.rangeOfServer(number)));
  }

  /** Returns with which key a range begins: a number, or the beginning of a text in quotes. */
  public static String low(Partitioning table, int range) {
    if (!table.hasFences()) {
      return String.valueOf(table.lowOfRange(range));
    }
    MemorySegment fence = table.fenceOfRange(range);
    long bytes = Math.min(fence.byteSize(), SHOWN_BYTES_MAX);
    String shown = '"' + ByteText.shown(fence.asSlice(0, bytes)) + '"';
    return bytes == fence.byteSize() ? shown : shown + "... of " + fence.byteSize() + " bytes";
  }

  private Optional<Double> share(int number) {
    return ranges()
        .filter(table -> table.hasServer(number))
        .map(table -> share(table, table.rangeOfServer(number)));
  }

  /** Returns which part of all keys a range is; of byte strings, of all entries. */
  private double share(Partitioning table, int range) {
    if (!table.hasFences()) {
      return table.shareOfRange(range);
    }
    long all = 0;
    long its = 0;
    for (Member member : computeServers) {
      if (table.hasServer(member.number())) {
        all += member.entries();
        its += member.number() == table.ownerOfRange(range) ? member.entries() : 0;
      }
    }
    return all == 0 ? 1.0 / table.servers() : (double) its / all;
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
    generation().ifPresent(number -> json.writeNumberProperty("generation", number));
    if (rebuild.isAwaited()) {
      json.writeStringProperty("awaitsRebuild", rebuild.why());
    }
    leader.ifPresent(number -> json.writeNumberProperty("leader", number));
    json.writeArrayPropertyStart("memoryServers");
    memoryServers.forEach(entry -> write(json, entry));
    json.writeEndArray();
    json.writeArrayPropertyStart("computeServers");
    computeServers.forEach(member -> write(json, member));
    json.writeEndArray();
    json.writeArrayPropertyStart("ranges");
    ranges().ifPresent(table -> writeRanges(json, table));
    json.writeEndArray();
    json.writeArrayPropertyStart("changes");
    changes.forEach(change -> write(json, change));
    json.writeEndArray();
  }

  private void writeRanges(JsonGenerator json, Partitioning table) {
    List<Routes.Route> all = routes.orElseThrow().routes();
    for (int range = 0; range < table.servers(); range++) {
      json.writeStartObject();
      json.writeNumberProperty("server", table.ownerOfRange(range));
      json.writeStringProperty("from", low(table, range));
      json.writeBooleanProperty("served", !all.get(range).address().isEmpty());
      json.writeNumberProperty("share", share(table, range));
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
    low(member.number()).ifPresent(low -> json.writeStringProperty("from", low));
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
