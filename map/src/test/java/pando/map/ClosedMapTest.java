package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentNavigableMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.RegistryException;
import pando.fabric.shm.ShmMemoryServer;
import pando.index.IndexOptions;
import pando.index.Pools;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Maps, views, iterators and sessions that are used after their end. */
@Timeout(120)
class ClosedMapTest {
  private static void checkRefused(List<Callable<?>> calls, String message) {
    for (Callable<?> call : calls) {
      assertThatIllegalStateException().isThrownBy(call::call).withMessage(message);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#PRODUCTS")
  void shouldRefuseCallsOnAClosedMap(SystemUnderTest system) {
    try (OpenMap<Long, Long> open = OpenMap.of(system)) {
      PandoMap<Long, Long> map = open.map();
      for (long key = 0; key < 50; key++) {
        map.put(key, key);
      }
      ConcurrentNavigableMap<Long, Long> part = map.subMap(0L, 9L);
      ConcurrentNavigableMap<Long, Long> reversed = map.descendingMap();
      Iterator<Long> keys = map.keySet().iterator();
      Iterator<Map.Entry<Long, Long>> entries = part.entrySet().iterator();
      Spliterator<Long> values = map.values().spliterator();
      Map.Entry<Long, Long> entry = entries.next();
      keys.next();
      MapSession<Long, Long> session = map.session();
      assertThat(session.get(1L)).isEqualTo(1);
      map.close();
      map.close();
      for (ConcurrentNavigableMap<Long, Long> each : List.of(map, part, reversed)) {
        checkRefused(calls(each), "the map is closed");
      }
      checkRefused(
          List.of(
              keys::hasNext,
              keys::next,
              () -> removed(keys),
              entries::next,
              () -> entry.setValue(1L),
              () -> values.tryAdvance(value -> {}),
              map::session,
              () -> session.get(1L),
              () -> session.put(1L, 1L),
              () -> session.floorEntry(1L)),
          "the map is closed");
      session.close();
      try (PandoMap<Long, Long> again =
          PandoMap.of(open.index(), KeyCodec.longs(), ValueCodec.longs())) {
        assertThat(again).hasSize(50);
      }
    }
  }

  private static boolean removed(Iterator<?> iterator) {
    iterator.remove();
    return true;
  }

  private static List<Callable<?>> calls(ConcurrentNavigableMap<Long, Long> map) {
    return List.of(
        () -> map.get(1L),
        () -> map.containsKey(1L),
        () -> map.containsValue(1L),
        () -> map.put(1L, 1L),
        () -> map.putIfAbsent(1L, 1L),
        () -> map.replace(1L, 1L),
        () -> map.replace(1L, 1L, 1L),
        () -> map.remove(1L),
        () -> map.remove(1L, 1L),
        () -> map.compute(1L, (key, value) -> value),
        () -> map.merge(1L, 1L, Long::sum),
        map::size,
        map::isEmpty,
        map::firstEntry,
        map::lastKey,
        map::pollFirstEntry,
        () -> map.floorKey(1L),
        () -> map.higherKey(1L),
        () -> map.lowerKey(Long.MIN_VALUE),
        () -> map.higherKey(Long.MAX_VALUE),
        () -> map.subMap(1L, 1L),
        () -> map.headMap(1L),
        () -> map.tailMap(1L),
        map::descendingMap,
        map::keySet,
        map::values,
        map::entrySet,
        map::hashCode,
        map::toString);
  }

  @Test
  void shouldRefuseASessionThatIsClosed() {
    try (OpenMap<Long, Long> open = OpenMap.of(SystemUnderTest.ORCA)) {
      MapSession<Long, Long> session = open.map().session();
      assertThat(session.putIfAbsent(1L, 2L)).isNull();
      assertThat(session.replace(1L, 2L, 3L)).isTrue();
      assertThat(session.replace(1L, 4L)).isEqualTo(3);
      assertThat(session.containsKey(1L)).isTrue();
      assertThat(session.ceilingEntry(0L)).isEqualTo(Map.entry(1L, 4L));
      assertThat(session.floorEntry(0L)).isNull();
      assertThat(session.remove(1L, 3L)).isFalse();
      assertThat(session.remove(1L)).isEqualTo(4);
      session.close();
      session.close();
      checkRefused(
          List.of(() -> session.get(1L), () -> session.put(1L, 1L)), "the session is closed");
    }
  }

  @Test
  void shouldSayThatTheIndexIsClosed() {
    try (OpenMap<Long, Long> open = OpenMap.of(SystemUnderTest.ORCA)) {
      open.map().put(1L, 1L);
      open.index().close();
      checkRefused(
          List.of(() -> open.map().get(1L), () -> open.map().size(), () -> open.map().session()),
          "the index is closed");
    }
  }

  @Test
  void shouldOpenAPoolInThisProcess() {
    IndexOptions options = SystemUnderTest.of("deft").defaults().options().withComputeServers(1);
    Pando pando = Pando.open("local:", options);
    PandoMap<Long, Long> map = pando.map(KeyCodec.longs(), ValueCodec.longs());
    map.put(1L, 2L);
    checkRefused(
        List.of(() -> pando.map(KeyCodec.longs(), ValueCodec.longs())),
        "this Pando has its map without a name already: give another map a name");
    pando.close();
    pando.close();
    checkRefused(List.of(() -> map.get(1L)), "the map is closed");
  }

  @Test
  void shouldRefusePoolsThatItDoesNotKnow() {
    for (String pool : List.of("", "local", "tcp:host:1", "shm")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Pando.open(pool))
          .withMessageStartingWith(
              "no such pool: pool=" + pool + ", known: local:, local:DIR, shm:NAME");
    }
    assertThatExceptionOfType(RegistryException.class)
        .isThrownBy(() -> Pando.open("shm:no-such-server-of-a-test"))
        .withMessageContaining("no-such-server-of-a-test");
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void shouldOpenAPoolOfOtherProcesses() {
    String name = "map-test-" + ProcessHandle.current().pid();
    PoolOptions pool = Pools.options(64 << 20);
    IndexOptions options = SystemUnderTest.ORCA.tiny(2).options();
    try (ShmMemoryServer server = ShmMemoryServer.start(name, 0, pool)) {
      String address = "shm:" + server.place();
      try (Pando pando = Pando.open(address, options);
          PandoMap<Long, Long> map = pando.map(KeyCodec.longs(), ValueCodec.longs())) {
        map.put(1L, 2L);
        assertThat(map).containsExactly(Map.entry(1L, 2L));
        try (Pando other = Pando.open(address, options)) {
          assertThatIllegalStateException()
              .isThrownBy(() -> other.map(KeyCodec.longs(), ValueCodec.longs()));
        }
        assertThat(map.get(1L)).isEqualTo(2);
      }
    }
  }
}
