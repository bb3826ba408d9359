package pando.cli.cluster;

import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.cluster.ClusterState;
import pando.cluster.Config;
import pando.cluster.Member;
import pando.cluster.Membership;
import pando.cluster.PoolEntry;
import pando.cluster.Rebuild;
import pando.cluster.ServerState;
import pando.fabric.PandoException;
import pando.index.Meters;
import pando.metrics.Watched;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * A cluster, as its page shows it: what the coordinator knows, how busy processes of this machine
 * are, and what has happened since it was first looked at.
 */
public final class WatchedCluster implements Watched, AutoCloseable {
  /** How many of what has happened are shown; losses stay before all else. */
  private static final int HAPPENINGS_MAX = 20;

  private static final String SILENT = "the coordinator does not answer";
  private static final JsonFactory JSON = new JsonFactory();
  private static final ClusterReport NOTHING =
      new ClusterReport(
          Optional.empty(),
          Rebuild.NONE,
          Optional.empty(),
          List.of(),
          List.of(),
          Optional.empty(),
          List.of());

  private final Supplier<Membership> sessions;
  private final Consumer<String> lines;
  private final Deque<Happening> happenings = new ConcurrentLinkedDeque<>();

  private final AtomicLong losses = new AtomicLong();
  private final SeenLosses seenLosses = new SeenLosses();
  private @Nullable Membership session;
  private boolean closed;
  private List<String> said = List.of("nothing yet");
  private volatile ClusterReport report = NOTHING;
  private volatile List<String> hindrances = List.of("not looked at yet");

  private record Happening(long millis, boolean isLoss, String text) {}

  /**
   * Prepares to look at a cluster.
   *
   * @param sessions opens a session with the coordinator; called again after one has ended
   * @param lines receives a line about each loss that a look finds, and one when the cluster
   *     becomes ready or is no longer ready
   */
  public WatchedCluster(Supplier<Membership> sessions, Consumer<String> lines) {
    this.sessions = sessions;
    this.lines = lines;
  }

  @Override
  public String name() {
    return report.config().map(Config::system).orElse("no index yet");
  }

  /** Notes what has happened to a process. */
  public void happened(String line) {
    note(false, line);
  }

  private void note(boolean isLoss, String text) {
    happenings.addLast(new Happening(System.currentTimeMillis(), isLoss, text));
    if (happenings.size() > HAPPENINGS_MAX) {
      happenings.stream()
          .filter(happening -> !happening.isLoss)
          .findFirst()
          .or(() -> Optional.ofNullable(happenings.peekFirst()))
          .ifPresent(happenings::remove);
    }
  }

  @Override
  public String json() {
    ClusterReport seen = report;
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      seen.write(json);
      json.writeObjectPropertyStart("cpuSeconds");
      seen.computeServers().forEach(server -> writeProcessor(json, server));
      json.writeEndObject();
      json.writeArrayPropertyStart("happenings");
      happenings.forEach(happening -> write(json, happening));
      json.writeEndArray();
      json.writeEndObject();
    }
    return text.toString();
  }

  private static void writeProcessor(JsonGenerator json, Member server) {
    Optional.of(server)
        .filter(Member::isHere)
        .flatMap(here -> ProcessHandle.of(here.process()))
        .flatMap(process -> process.info().totalCpuDuration())
        .map(Duration::toMillis)
        .ifPresent(
            millis -> json.writeNumberProperty(String.valueOf(server.number()), millis / 1e3));
  }

  private static void write(JsonGenerator json, Happening happening) {
    json.writeStartObject();
    json.writeNumberProperty("millis", happening.millis);
    json.writeBooleanProperty("loss", happening.isLoss);
    json.writeStringProperty("text", happening.text);
    json.writeEndObject();
  }

  /** Looks at the cluster, and says what it has lost since the look before. */
  public synchronized void look() {
    if (closed) {
      return;
    }
    try {
      report = ClusterReport.of(new ClusterState(session()));
      hindrances = hindrancesOf(report);
      for (String loss : seenLosses.look(report)) {
        losses.incrementAndGet();
        note(true, loss);
        lines.accept(loss);
      }
      say(hindrances);
    } catch (PandoException e) {
      hindrances = List.of(SILENT + ": " + e.getMessage());
      say(List.of(SILENT));
    }
  }

  /** Prints whether the cluster is ready, and why not, if that has changed. */
  private void say(List<String> now) {
    if (!now.equals(said)) {
      said = now;
      lines.accept(
          now.isEmpty() ? "ready: all keys are served" : "not ready: " + String.join("; ", now));
    }
  }

  private Membership session() {
    Membership open = session;
    if (open != null && open.status() != Membership.Status.LOST) {
      return open;
    }
    closeSession();
    open = sessions.get();
    session = open;
    return open;
  }

  private static List<String> hindrancesOf(ClusterReport report) {
    List<String> all = new ArrayList<>();
    if (report.routes().isEmpty()) {
      all.add("no compute server has made the index yet");
    }
    if (report.rebuild().isAwaited()) {
      all.add(report.rebuild().problem());
    }
    unserved(report)
        .forEach(route -> all.add("nobody serves the range of compute server " + route.owner()));
    report.memoryServers().stream()
        .filter(server -> server.state() == ServerState.LOST)
        .forEach(server -> all.add("memory server " + server.number() + " is lost"));
    return all;
  }

  private static List<Routes.Route> unserved(ClusterReport report) {
    return report.routes().stream()
        .flatMap(routes -> routes.routes().stream())
        .filter(route -> route.address().isEmpty())
        .toList();
  }

  @Override
  public List<String> hindrances() {
    return hindrances;
  }

  @Override
  public void meters(Meters to) {
    gauge(to, "pando.keys", "About how many keys there are.", Member::entries);
    gauge(
        to,
        "pando.unwritten.bytes",
        "Acknowledged changes that are in the memory of compute servers alone.",
        server -> server.unwritten().bytes());
    to.gauge(
        "pando.partitions", "Ranges of keys, each with a compute server.", () -> ranges().count());
    to.gauge(
        "pando.partitions.epoch",
        "Changes of the ranges since the index was made.",
        () -> report.routes().map(Routes::epoch).orElse(0L));
    to.gauge(
        "pando.cluster.ranges.unserved",
        "Ranges that no compute server serves now.",
        () -> unserved(report).size());
    to.gauge(
        "pando.cluster.pool.bytes",
        "Bytes for nodes that memory servers were given.",
        () -> report.memoryServers().stream().mapToLong(PoolEntry::bytes).sum());
    for (ServerState state : ServerState.values()) {
      servers(to, state);
    }
    to.gauge(
        "pando.cluster.changes",
        "Changes of ranges that are not over.",
        () -> report.changes().stream().filter(change -> !change.isOver()).count());
    to.count(
        "pando.cluster.losses",
        "Servers that ended, or were lost, with what they had alone, since this began.",
        losses::get);
  }

  private void servers(Meters to, ServerState state) {
    String meaning = "Servers, by what they are and how far.";
    String name = state.name().toLowerCase(Locale.ROOT);
    to.gauge(
        "pando.cluster.servers",
        meaning,
        () -> report.computeServers().stream().filter(server -> server.state() == state).count(),
        "kind",
        "compute",
        "state",
        name);
    to.gauge(
        "pando.cluster.servers",
        meaning,
        () -> report.memoryServers().stream().filter(server -> server.state() == state).count(),
        "kind",
        "memory",
        "state",
        name);
  }

  private void gauge(Meters to, String name, String meaning, ToDoubleFunction<Member> of) {
    to.gauge(name, meaning, () -> report.computeServers().stream().mapToDouble(of).sum());
  }

  private Stream<Routes.Route> ranges() {
    return report.routes().stream().flatMap(routes -> routes.routes().stream());
  }

  private void closeSession() {
    Membership open = session;
    session = null;
    if (open != null) {
      open.close();
    }
  }

  /** Looks no more. */
  @Override
  public synchronized void close() {
    closed = true;
    closeSession();
  }
}
