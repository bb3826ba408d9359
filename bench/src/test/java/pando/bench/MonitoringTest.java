package pando.bench;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import pando.cli.CommandFixture;
import pando.cli.cluster.WatchedCluster;
import pando.cluster.MemoryCoordinator;
import pando.door.resp.RespDoor;
import pando.door.resp.RespOptions;
import pando.durable.DurableStrings;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Metered;
import pando.index.RangeIndex;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.journal.DataFolder;
import pando.journal.LogOptions;
import pando.metrics.PandoHttp;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** Whether the files for Grafana and Prometheus can be read, and name what Pando exports. */
final class MonitoringTest {
  private static final Path FOLDER = Path.of("..", "packaging", "monitoring");
  private static final Pattern NAME = Pattern.compile("\\bpando_[a-z_]+");
  private static final Pattern SELECTED = Pattern.compile("\\b(pando_[a-z_]+)\\{([^}]*)}");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)(=~?)\"([^\"]*)\"");

  /** The labels of each metric, each with its values. */
  private static final Map<String, Map<String, Set<String>>> EXPORTED = new TreeMap<>();

  @BeforeAll
  static void export(@TempDir Path data) throws IOException {
    PoolOptions pool =
        PoolOptions.defaults().withBytesPerServer(64 << 20).withHandlers(Systems.handlers());
    try (Fabric fabric = LocalFabric.open(pool);
        ByteIndex strings =
            ByteIndex.create(fabric, ByteOptions.defaults().withCacheBytes(1 << 20));
        RespDoor door = RespDoor.open(strings, RespOptions.loopback(0))) {
      take(door);
    }
    try (Fabric fabric = LocalFabric.open(pool);
        DataFolder folder = DataFolder.open(data, DurableStrings.KIND, LogOptions.defaults());
        DurableStrings strings =
            DurableStrings.open(folder, ByteOptions.defaults().withCacheBytes(1 << 20), fabric)) {
      take(strings);
    }
    for (String system : List.of("orca", "dex", "rolex")) {
      try (Fabric fabric = LocalFabric.open(pool);
          RangeIndex index =
              Systems.named(system).defaults().withCacheBytes(1 << 20).create(fabric)) {
        take(index);
      }
    }
    try (WatchedCluster cluster =
            new WatchedCluster(new MemoryCoordinator(Duration.ofSeconds(5))::connect, _ -> {});
        PandoHttp http = PandoHttp.open(PandoHttp.loopback(0))) {
      http.show(cluster);
      takeText(CommandFixture.read(http.uri().resolve("/metrics")));
    }
  }

  private static void take(Metered metered) throws IOException {
    try (PandoHttp http = PandoHttp.serve(metered, 0)) {
      takeText(CommandFixture.read(http.uri().resolve("/metrics")));
    }
  }

  private static void takeText(String text) {
    Pattern sample = Pattern.compile("(?m)^(pando_[a-z_]+)(?:\\{(.*)})? ");
    for (Matcher found = sample.matcher(text); found.find(); ) {
      Map<String, Set<String>> labels =
          EXPORTED.computeIfAbsent(found.group(1), _ -> new TreeMap<>());
      String own = found.group(2) == null ? "" : found.group(2);
      for (Matcher label = LABEL.matcher(own); label.find(); ) {
        labels.computeIfAbsent(label.group(1), _ -> new TreeSet<>()).add(label.group(3));
      }
    }
  }

  @Test
  void shouldDrawWhatIsExported() throws IOException {
    List<String> expressions = new ArrayList<>();
    Set<String> titles = new HashSet<>();
    String text = Files.readString(FOLDER.resolve("grafana-dashboard.json"));
    try (JsonParser json = new JsonFactory().createParser(ObjectReadContext.empty(), text)) {
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        if (token == JsonToken.VALUE_STRING && "expr".equals(json.currentName())) {
          expressions.add(json.getString());
        } else if (token == JsonToken.VALUE_STRING && "title".equals(json.currentName())) {
          assertThat(titles.add(json.getString())).as(json.getString()).isTrue();
        }
      }
    }
    assertThat(expressions).hasSizeGreaterThan(20);
    expressions.forEach(MonitoringTest::assertExported);
  }

  @Test
  void shouldAlertAboutWhatIsExported() throws IOException {
    Yaml yaml = new Yaml(new SafeConstructor(new LoaderOptions()));
    Map<?, ?> file = yaml.load(Files.readString(FOLDER.resolve("prometheus-alerts.yaml")));
    Set<Object> names = new HashSet<>();
    for (Object group : list(file.get("groups"))) {
      for (Object each : list(map(group).get("rules"))) {
        Map<?, ?> rule = map(each);
        assertThat(names.add(rule.get("alert"))).as("%s", rule).isTrue();
        assertThat(Set.<Object>of("alert", "expr", "for", "labels", "annotations"))
            .containsAll(rule.keySet());
        assertThat(map(rule.get("labels")).get("severity")).isIn("info", "warning", "critical");
        assertThat(map(rule.get("annotations")).keySet()).hasToString("[summary, description]");
        assertExported(String.valueOf(rule.get("expr")));
      }
    }
    assertThat(names).hasSizeGreaterThan(10);
  }

  private static List<?> list(@Nullable Object value) {
    assertThat(value).isInstanceOf(List.class);
    return (List<?>) requireNonNull(value);
  }

  private static Map<?, ?> map(@Nullable Object value) {
    assertThat(value).isInstanceOf(Map.class);
    return (Map<?, ?>) requireNonNull(value);
  }

  /** Checks the names of metrics, their labels and the values of these, and the parentheses. */
  private static void assertExported(String expression) {
    assertThat(NAME.matcher(expression).results().map(found -> found.group()))
        .as(expression)
        .isNotEmpty()
        .allMatch(EXPORTED::containsKey);
    for (Matcher selected = SELECTED.matcher(expression); selected.find(); ) {
      Map<String, Set<String>> labels = EXPORTED.getOrDefault(selected.group(1), Map.of());
      for (Matcher label = LABEL.matcher(selected.group(2)); label.find(); ) {
        if (!label.group(1).equals("instance")) { // Prometheus itself adds it
          assertThat(labels).as(expression).containsKey(label.group(1));
          assertThat(labels.getOrDefault(label.group(1), Set.of()))
              .as(expression)
              .contains(label.group(3));
        }
      }
    }
    assertThat(expression.chars().filter(c -> c == '(').count())
        .as(expression)
        .isEqualTo(expression.chars().filter(c -> c == ')').count());
  }
}
