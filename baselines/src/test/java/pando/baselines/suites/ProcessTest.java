package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.shm.ShmFabric;
import pando.index.Entries;
import pando.index.IndexProcess;
import pando.index.NotServedHereException;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** One index, two processes with compute servers, and memory servers in processes of their own. */
@FewRows(products = 1, baselines = 0)
@EnabledOnOs(OS.LINUX)
@Timeout(300)
class ProcessTest {
  /** The promise is one second; the rest is for a machine that is busy. */
  private static final long LOST_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

  private static final int OPERATIONS = Seeds.count(500, 1_500);
  private static final String NOT_SERVED = NotServedHereException.class.getSimpleName();

  @TempDir private Path parent;

  @BeforeEach
  void chooseDirectory() {
    System.setProperty(IndexProcess.DIRECTORY_PROPERTY, parent.resolve("registry").toString());
  }

  @AfterEach
  void forgetDirectory() {
    System.clearProperty(IndexProcess.DIRECTORY_PROPERTY);
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldShareAnIndexAndOutliveTheOther(SystemUnderTest system) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(402));
    NavigableMap<Long, Long> model = Entries.random(random, Seeds.count(700, 2_000));
    try (IndexProcess zero = IndexProcess.memoryServer("m0", 0);
        IndexProcess one = IndexProcess.memoryServer("m1", 1);
        Fabric fabric = ShmFabric.attach(List.of("m0", "m1"), 1)) {
      assertThat(zero).isNotSameAs(one);
      try (RangeIndex index = IndexProcess.configuration(system).create(fabric, 0, 2)) {
        index.bulkLoad(Entries.of(model), 0.7);
        try (IndexProcess other = IndexProcess.computeServers(system, 2, "m0", "m1");
            Session session = index.session()) {
          shareKeys(session, other, model, random);
          other.kill();
          int servedHere = 0;
          for (long key : model.keySet()) {
            servedHere += here(session, "get", key, 0).equals(NOT_SERVED) ? 0 : 1;
          }
          assertThat(servedHere).isGreaterThan(model.size() / 4);
        }
      }
    }
  }

  /** Each key is written in a process that serves it, and read in both. */
  private static void shareKeys(
      Session session, IndexProcess other, NavigableMap<Long, Long> model, SplittableRandom random)
      throws IOException {
    int writtenHere = 0;
    for (int i = 0; i < OPERATIONS; i++) {
      Long known = model.ceilingKey(random.nextLong());
      long key = i % 2 == 0 || known == null ? random.nextLong() : known;
      String expected = model.containsKey(key) ? "replaced" : "stored";
      String first = i % 4 < 2 ? here(session, "put", key, i) : there(other, "put", key, i);
      if (first.equals(NOT_SERVED)) {
        first = i % 4 < 2 ? there(other, "put", key, i) : here(session, "put", key, i);
      }
      assertThat(first).as("key=%d", key).isEqualTo(expected);
      model.put(key, (long) i);
      String here = here(session, "get", key, 0);
      assertThat(here).as("key=%d", key).isIn("value " + i, NOT_SERVED);
      String there = there(other, "get", key, 0);
      assertThat(there).as("key=%d", key).isIn("value " + i, NOT_SERVED);
      assertThat(here.equals(NOT_SERVED) && there.equals(NOT_SERVED)).isFalse();
      writtenHere += here.equals(NOT_SERVED) ? 0 : 1;
    }
    assertThat(writtenHere).isGreaterThan(OPERATIONS / 4);
    for (long key : model.keySet()) {
      String value = "value " + model.get(key);
      assertThat(here(session, "get", key, 0)).as("key=%d", key).isIn(value, NOT_SERVED);
      assertThat(there(other, "get", key, 0)).as("key=%d", key).isIn(value, NOT_SERVED);
    }
  }

  private static String here(Session session, String what, long key, long value) {
    return IndexProcess.answer(session, what, key, value);
  }

  private static String there(IndexProcess other, String what, long key, long value)
      throws IOException {
    return other.ask(what + " " + key + " " + value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dex",
        "orca",
        "sherman",
        "p-sherman",
        "deft",
        "rolex",
        "xstore-d",
        "emt-d",
        "smart",
        "p-smart"
      })
  void shouldTellThatAMemoryServerIsLost(SystemUnderTest system) throws Exception {
    NavigableMap<Long, Long> model =
        Entries.random(new SplittableRandom(Seeds.of(404)), 8_000); // More than caches hold.
    try (IndexProcess zero = IndexProcess.memoryServer("m0", 0);
        Fabric fabric = ShmFabric.attach(List.of("m0"), 1)) {
      RangeIndex index = IndexProcess.configuration(system).create(fabric, 0, 2);
      index.bulkLoad(Entries.of(model), 0.7);
      try (IndexProcess other = IndexProcess.computeServers(system, 2, "m0");
          Session session = index.session()) {
        zero.kill();
        long deadline = System.nanoTime() + LOST_NANOS_MAX;
        assertThatThrownBy(() -> readUntil(session, model, deadline))
            .isInstanceOf(MemoryServerLostException.class);
        assertThat(answerOfLoss(other, model, deadline)).isEqualTo("MemoryServerLostException");
      }
      assertThatThrownBy(index::close).isInstanceOf(MemoryServerLostException.class);
      index.close();
      assertThatThrownBy(index::session).hasMessage("the index is closed");
    }
  }

  /** Asks for keys until one is not there because its memory server is lost; others are cached. */
  private static String answerOfLoss(
      IndexProcess process, NavigableMap<Long, Long> model, long deadline) throws Exception {
    String answer = "";
    while (System.nanoTime() - deadline < 0) {
      for (long key : model.tailMap(Long.MAX_VALUE / 2).keySet()) {
        answer = process.ask("get " + key);
        if (answer.startsWith("MemoryServerLost")) {
          return answer;
        }
      }
    }
    return answer;
  }

  private static void readUntil(Session session, NavigableMap<Long, Long> model, long deadline) {
    while (System.nanoTime() - deadline < 0) {
      for (long key : model.headMap(Long.MIN_VALUE / 2).keySet()) {
        assertThat(session.get(key)).isTrue();
      }
    }
  }
}
