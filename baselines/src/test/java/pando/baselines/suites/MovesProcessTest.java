package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.shm.ShmFabric;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.IndexProcess;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Tree;
import pando.index.TreeCheck;

/** Partitions that go from one process to another. */
@Tag("campaign")
@EnabledOnOs(OS.LINUX)
@Timeout(300)
class MovesProcessTest {
  @TempDir private Path parent;

  @BeforeEach
  void chooseDirectory() {
    System.setProperty(IndexProcess.DIRECTORY_PROPERTY, parent.resolve("registry").toString());
  }

  @AfterEach
  void forgetDirectory() {
    System.clearProperty(IndexProcess.DIRECTORY_PROPERTY);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"DEX", "P_SHERMAN", "ORCA", "P_SMART"})
  void shouldServeEachProcessItsOwnKeys(String name) throws Exception {
    SystemUnderTest system = SystemUnderTest.of(name);
    Configuration configuration = IndexProcess.configuration(system);
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(401), 2_000);
    try (IndexProcess zero = IndexProcess.memoryServer("m0", 0);
        IndexProcess one = IndexProcess.memoryServer("m1", 1);
        Fabric fabric = ShmFabric.attach(List.of("m0", "m1"), 1)) {
      assertThat(zero).isNotSameAs(one);
      try (RangeIndex index = configuration.create(fabric, 0, 2)) {
        index.bulkLoad(Entries.of(model), 0.7);
        try (IndexProcess other = IndexProcess.computeServers(system, 2, "m0", "m1");
            Session session = index.session()) {
          serveBoth(index, session, other, model);
          moveBoundary(index, session, other, model);
        }
        TreeMap<Long, Long> here =
            new TreeMap<>(model.headMap(index.partitioning().lowOfServer(2)));
        try (Session session = index.session()) {
          here.forEach((key, value) -> check(session, key, value));
        }
      }
      Tree tree = TreeCheck.walk(fabric, configuration);
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  private static void serveBoth(
      RangeIndex index, Session session, IndexProcess other, NavigableMap<Long, Long> model)
      throws Exception {
    SplittableRandom random = new SplittableRandom(402);
    for (int i = 0; i < 1_500; i++) {
      long key = random.nextLong();
      boolean here = index.partitioning().ownerOfKey(key) < 2;
      if (here) {
        session.put(key, i);
        assertThat(other.ask("get " + key)).isEqualTo("NotServedHereException");
      } else {
        assertThat(other.ask("put " + key + " " + i)).isEqualTo("stored");
        assertThatThrownBy(() -> session.get(key)).isInstanceOf(NotServedHereException.class);
      }
      model.put(key, (long) i);
    }
  }

  private static void moveBoundary(
      RangeIndex index, Session session, IndexProcess other, NavigableMap<Long, Long> model)
      throws Exception {
    Partitioning before = index.partitioning();
    long middle = before.lowOfServer(1) + (before.highOfServer(1) - before.lowOfServer(1)) / 2;
    assertThat(other.ask("move 2 " + middle)).isEqualTo("IllegalArgumentException");
    long low = index.partitions().orElseThrow().moveBoundary(2, middle);
    assertThat(low).isLessThanOrEqualTo(middle).isGreaterThan(before.lowOfServer(1));
    for (long key : model.subMap(low, before.highOfServer(1)).keySet()) {
      assertThatThrownBy(() -> session.get(key)).isInstanceOf(NotServedHereException.class);
      assertThat(other.ask("get " + key)).isEqualTo("value " + model.get(key));
      assertThat(other.ask("put " + key + " 5")).isEqualTo("replaced");
      model.put(key, 5L);
    }
    model.subMap(before.lowOfServer(1), low).forEach((key, value) -> check(session, key, value));
    long back = before.highOfServer(1) - (before.highOfServer(1) - low) / 2;
    String moved = other.ask("move 2 " + back);
    assertThat(moved).startsWith("moved ");
    long last = Long.parseLong(moved.substring("moved ".length()));
    assertThat(last).isBetween(low, back);
    model.subMap(low, last).forEach((key, value) -> check(session, key, value));
    model.subMap(before.lowOfServer(0), low).forEach((key, value) -> check(session, key, value));
  }

  private static void check(Session session, long key, long value) {
    assertThat(session.get(key)).as("key=%d", key).isTrue();
    assertThat(session.value()).as("key=%d", key).isEqualTo(value);
  }
}
