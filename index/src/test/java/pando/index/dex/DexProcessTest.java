package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.shm.ShmFabric;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.Session;
import pando.index.Tree;

/** One index, two processes with compute servers, and memory servers in processes of their own. */
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class DexProcessTest {
  /** The promise is one second; the rest is for a machine that is busy. */
  private static final long LOST_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);

  @TempDir private Path parent;

  @BeforeEach
  void chooseDirectory() {
    System.setProperty(DexProcess.DIRECTORY_PROPERTY, parent.resolve("registry").toString());
  }

  @AfterEach
  void forgetDirectory() {
    System.clearProperty(DexProcess.DIRECTORY_PROPERTY);
  }

  @Test
  void shouldServeEachProcessItsOwnKeys() throws Exception {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(401), 2_000);
    try (DexProcess zero = DexProcess.memoryServer("m0", 0);
        DexProcess one = DexProcess.memoryServer("m1", 1);
        Fabric fabric = ShmFabric.attach(List.of("m0", "m1"), 1)) {
      assertThat(zero).isNotSameAs(one);
      try (DexIndex index = DexIndex.create(fabric, DexProcess.options(), 0, 2)) {
        index.bulkLoad(Entries.of(model), 0.7);
        try (DexProcess other = DexProcess.computeServers(2, "m0", "m1");
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
      Tree tree = TreeCheck.walk(fabric, DexProcess.options());
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  private static void serveBoth(
      DexIndex index, Session session, DexProcess other, NavigableMap<Long, Long> model)
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
      DexIndex index, Session session, DexProcess other, NavigableMap<Long, Long> model)
      throws Exception {
    Partitioning before = index.partitioning();
    long middle = before.lowOfServer(1) + (before.highOfServer(1) - before.lowOfServer(1)) / 2;
    assertThat(other.ask("move 2 " + middle)).isEqualTo("IllegalArgumentException");
    long low = index.moveBoundary(2, middle);
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

  @Test
  void shouldOutliveAnotherComputeProcess() throws Exception {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(403), 2_000);
    try (DexProcess zero = DexProcess.memoryServer("m0", 0);
        Fabric fabric = ShmFabric.attach(List.of("m0"), 1);
        DexIndex index = DexIndex.create(fabric, DexProcess.options(), 0, 2)) {
      assertThat(zero).isNotNull();
      index.bulkLoad(Entries.of(model), 0.7);
      try (DexProcess other = DexProcess.computeServers(2, "m0");
          Session session = index.session()) {
        assertThat(other.ask("put " + Long.MAX_VALUE + " 1")).isEqualTo("replaced");
        other.kill();
        TreeMap<Long, Long> here =
            new TreeMap<>(model.headMap(index.partitioning().lowOfServer(2)));
        here.forEach((key, value) -> check(session, key, value));
        here.keySet().forEach(key -> assertThat(session.put(key, ~key)).isTrue());
        here.keySet().forEach(key -> check(session, key, ~key));
        assertThatThrownBy(() -> session.get(Long.MAX_VALUE))
            .isInstanceOf(NotServedHereException.class);
      }
    }
  }

  @Test
  void shouldTellThatAMemoryServerIsLost() throws Exception {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(404), 2_000);
    try (DexProcess zero = DexProcess.memoryServer("m0", 0);
        Fabric fabric = ShmFabric.attach(List.of("m0"), 1)) {
      DexIndex index = DexIndex.create(fabric, DexProcess.options(), 0, 2);
      index.bulkLoad(Entries.of(model), 0.7);
      try (DexProcess other = DexProcess.computeServers(2, "m0");
          Session session = index.session()) {
        TreeMap<Long, Long> here =
            new TreeMap<>(model.headMap(index.partitioning().lowOfServer(2)));
        zero.kill();
        long start = System.nanoTime();
        assertThatThrownBy(() -> readUntil(session, here, start + LOST_NANOS_MAX))
            .isInstanceOf(MemoryServerLostException.class);
        String answer = "";
        while (!answer.startsWith("MemoryServerLost")
            && System.nanoTime() - start < LOST_NANOS_MAX) {
          for (long key : model.tailMap(index.partitioning().lowOfServer(2)).keySet()) {
            answer = other.ask("get " + key);
            if (answer.startsWith("MemoryServerLost")) {
              break;
            }
          }
        }
        assertThat(answer).isEqualTo("MemoryServerLostException");
        System.out.println("lost after ms=" + (System.nanoTime() - start) / 1_000_000);
      }
      assertThatThrownBy(index::close).isInstanceOf(MemoryServerLostException.class);
    }
  }

  private static void readUntil(Session session, NavigableMap<Long, Long> here, long deadline) {
    while (System.nanoTime() - deadline < 0) {
      for (long key : here.keySet()) {
        assertThat(session.get(key)).isTrue();
      }
    }
  }

  private static void check(Session session, long key, long value) {
    assertThat(session.get(key)).as("key=%d", key).isTrue();
    assertThat(session.value()).as("key=%d", key).isEqualTo(value);
  }
}
