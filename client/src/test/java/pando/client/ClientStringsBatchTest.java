package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.CuttingProxy;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** Batches of operations on byte strings: how often they wait, and what each of them comes to. */
@Timeout(120)
class ClientStringsBatchTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final int LONGEST = 480 << 10;

  private static final ClientOptions PATIENT =
      ClientOptions.defaults()
          .withAnswerTimeout(Duration.ofSeconds(5))
          .withPatience(Duration.ofSeconds(20));

  private Fabric fabric;
  private ByteIndex index;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 128 << 20, 1);
    index = ByteIndex.create(fabric, ClientStringsTest.tiny());
  }

  @AfterEach
  void close() {
    index.close();
    fabric.close();
  }

  /** What each operation of a batch came to. */
  private static final class Outcomes {
    final List<byte @Nullable []> values = new ArrayList<>();
    final List<@Nullable RuntimeException> failures = new ArrayList<>();
    int stopsAt = Integer.MAX_VALUE;

    boolean receive(int place, @Nullable MemorySegment value, @Nullable RuntimeException failure) {
      assertThat(place).isEqualTo(values.size());
      values.add(value == null ? null : ByteKeys.bytes(value));
      failures.add(failure);
      return place < stopsAt;
    }

    Outcomes check() {
      assertThat(failures).allMatch(Objects::isNull);
      return this;
    }
  }

  private static List<MemorySegment> segments(List<byte[]> all) {
    return all.stream().map(MemorySegment::ofArray).toList();
  }

  private static Outcomes getAll(ByteSession session, List<byte[]> keys) {
    Outcomes outcomes = new Outcomes();
    session.getAll(segments(keys), outcomes::receive);
    assertThat(outcomes.values).hasSameSizeAs(keys);
    return outcomes;
  }

  private static Outcomes storeAll(ByteSession session, List<byte[]> keys, List<byte[]> values) {
    Outcomes outcomes = new Outcomes();
    session.storeAll(segments(keys), segments(values), outcomes::receive);
    assertThat(outcomes.values).hasSameSizeAs(keys).allMatch(Objects::isNull);
    return outcomes;
  }

  /** Returns different keys, every second one of the other server. */
  private static List<byte[]> keys(int count) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      keys.add(new byte[] {(byte) (i << 7), (byte) (i >> 8), (byte) i});
    }
    return keys;
  }

  private static List<byte[]> values(int count, int length) {
    List<byte[]> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.add(new byte[length]);
      Arrays.fill(values.getLast(), (byte) i);
    }
    return values;
  }

  private static void checkValues(List<byte @Nullable []> found, List<byte[]> stored) {
    assertThat(found).hasSameSizeAs(stored);
    for (int i = 0; i < found.size(); i++) {
      assertThat(found.get(i)).isEqualTo(stored.get(i));
    }
  }

  @Test
  void shouldWaitOnceForEachServer() {
    FramesHost host = new FramesHost(index);
    try (PandoClient client = host.connect();
        ByteSession session = client.byteStrings().session()) {
      List<byte[]> keys = keys(64);
      List<byte[]> values = values(64, 100);
      long before = host.waits();
      storeAll(session, keys, values).check();
      assertThat(host.waits() - before).isEqualTo(2);
      before = host.waits();
      for (byte[] key : keys) {
        assertThat(session.get(MemorySegment.ofArray(key))).isTrue();
      }
      assertThat(host.waits() - before).isEqualTo(64);
      before = host.waits();
      checkValues(getAll(session, keys).check().values, values);
      assertThat(host.waits() - before).as("16, 32, 16 keys of two servers").isEqualTo(6);
      before = host.waits();
      long operations = host.operations();
      checkValues(getAll(session, keys).check().values, values);
      assertThat(host.waits() - before).isEqualTo(2);
      assertThat(host.operations() - operations).isEqualTo(64);
      before = host.waits();
      getAll(session, keys(1_000)).check();
      assertThat(host.waits() - before).as("16 times at most 64 keys").isEqualTo(2 * 16);
    }
  }

  /** About a mebibyte goes together; lookups learn from what was found before. */
  @Test
  void shouldSendAndFindFewLongValuesTogether() {
    FramesHost host = new FramesHost(index);
    try (PandoClient client = host.connect();
        ByteSession session = client.byteStrings().session()) {
      List<byte[]> keys = keys(64).stream().filter(key -> key[0] == 0).toList();
      List<byte[]> values = values(32, LONGEST);
      long before = host.waits();
      storeAll(session, keys, values).check();
      assertThat(host.waits() - before).as("two at a time").isEqualTo(16);
      before = host.waits();
      checkValues(getAll(session, keys).check().values, values);
      assertThat(host.waits() - before).as("16, then two at a time").isEqualTo(1 + 8);
      before = host.waits();
      checkValues(getAll(session, keys).check().values, values);
      assertThat(host.waits() - before).isEqualTo(16);
      before = host.waits();
      getAll(session, keys(1_000).subList(64, 1_000)).check();
      assertThat(host.waits() - before).as("2, 4, 8, 16, 32, then 64").isEqualTo(2 * (5 + 14));
    }
  }

  @Test
  void shouldStoreValuesOfTheSameKeyInTheirOrder() {
    FramesHost host = new FramesHost(index);
    try (PandoClient client = host.connect();
        ByteSession session = client.byteStrings().session()) {
      List<byte[]> keys = keys(3);
      List<byte[]> twice = new ArrayList<>(keys);
      twice.addAll(keys);
      List<byte[]> values = values(6, 10);
      long before = host.waits();
      storeAll(session, twice, values).check();
      assertThat(host.waits() - before).isEqualTo(4);
      checkValues(getAll(session, twice).check().values.subList(0, 3), values.subList(3, 6));
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 40, 1", "300, 300, 4", "3, 200000, 20"})
  void shouldBehaveLikeTreeMapWhileRangesMove(int keyBytes, int valueBytes, int share) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2350));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    int batches = Seeds.count(300, 600, 10_000) / share;
    StringTrio trio = new StringTrio(index);
    try (PandoClient client = PandoClient.connect(trio.addresses(), PATIENT);
        ByteStrings strings = client.byteStrings();
        ByteSession session = strings.session()) {
      for (int i = 0; i < batches; i++) {
        trio.move(random);
        int count = random.nextInt(random.nextInt(4) == 0 ? 200 / share + 1 : 10);
        List<byte[]> keys = new ArrayList<>();
        List<byte[]> values = new ArrayList<>();
        for (int n = 0; n < count; n++) {
          keys.add(ByteKeys.draw(random, keyBytes));
          values.add(ByteKeys.value(random, valueBytes));
        }
        if (random.nextBoolean()) {
          storeAll(session, keys, values).check();
          for (int n = 0; n < count; n++) {
            model.put(keys.get(n), values.get(n));
          }
        } else {
          Outcomes outcomes = getAll(session, keys).check();
          for (int n = 0; n < count; n++) {
            assertThat(outcomes.values.get(n)).isEqualTo(model.get(keys.get(n)));
          }
        }
        byte[] gone = ByteKeys.draw(random, keyBytes);
        assertThat(session.remove(MemorySegment.ofArray(gone)))
            .isEqualTo(model.remove(gone) != null);
      }
      ByteModelRun.checkAll(session, model);
      assertThat(strings.partitioning().epoch()).as("changes seen").isGreaterThan(2);
    } finally {
      trio.close();
    }
  }

  /** Each key has a value that was stored, or one of those of which that is not known. */
  @Test
  void shouldSayWhatEachCameToWhereConnectionsAreCut() throws IOException {
    long seed = Seeds.of(2351);
    SplittableRandom random = new SplittableRandom(seed);
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    // What was cut off may be under way at the server, and take effect behind later batches.
    NavigableMap<byte[], List<byte[]>> perhaps = new TreeMap<>(Arrays::compareUnsigned);
    int unknown = 0;
    int known = 0;
    try (ClientService service =
            ClientService.start(index, FREE_PORT, Authentication.none(), Routes::alone, 1);
        CuttingProxy proxy = CuttingProxy.start(service.address(), 10_000, seed);
        PandoClient client = connect(proxy);
        ByteSession session = client.byteStrings().session()) {
      for (int i = 0; i < Seeds.count(300, 600, 10_000); i++) {
        List<byte[]> keys = new ArrayList<>();
        List<byte[]> values = new ArrayList<>();
        for (int n = random.nextInt(30); n > 0; n--) {
          keys.add(ByteKeys.draw(random, 2));
          values.add(ByteKeys.value(random, 300));
        }
        Outcomes outcomes = storeAll(session, keys, values);
        boolean isCut = false;
        for (int n = 0; n < keys.size(); n++) {
          RuntimeException failure = outcomes.failures.get(n);
          isCut |= failure != null;
          if (failure == null) {
            model.put(keys.get(n), values.get(n));
          } else {
            assertThat(failure).isInstanceOf(UnknownOutcomeException.class);
            unknown++;
            perhaps.computeIfAbsent(keys.get(n), _ -> new ArrayList<>()).add(values.get(n));
          }
        }
        for (RuntimeException failure : outcomes.failures) {
          known += isCut && failure == null ? 1 : 0;
        }
        settle(model, perhaps, keys, getAll(session, keys).check());
      }
      assertThat(unknown).isGreaterThan(5);
      assertThat(known).as("done in batches in which others were cut").isGreaterThan(5);
    }
    // The service is closed: nothing is under way any more.
    try (ByteSession session = index.session()) {
      List<byte[]> keys = new ArrayList<>(model.keySet());
      keys.addAll(perhaps.keySet());
      settle(model, perhaps, keys, getAll(session, keys).check());
      ByteModelRun.checkAll(session, model);
    }
  }

  private static PandoClient connect(CuttingProxy proxy) {
    while (true) {
      try {
        InetSocketAddress address = proxy.address();
        return PandoClient.connect(address.getHostString() + ":" + address.getPort(), PATIENT);
      } catch (ClientException cut) {
        // Again, by another connection.
      }
    }
  }

  /**
   * Puts into the model what was found, which must be its value, or one that was stored perhaps.
   */
  private static void settle(
      NavigableMap<byte[], byte[]> model,
      NavigableMap<byte[], List<byte[]>> perhaps,
      List<byte[]> keys,
      Outcomes found) {
    for (int n = 0; n < keys.size(); n++) {
      byte[] key = keys.get(n);
      byte @Nullable [] value = found.values.get(n);
      assertThat(
              Arrays.equals(value, model.get(key))
                  || perhaps.getOrDefault(key, List.of()).stream()
                      .anyMatch(each -> Arrays.equals(each, value)))
          .isTrue();
      if (value != null) {
        model.put(key, value);
      }
    }
  }

  @Test
  void shouldFailAloneWhereAKeyOrAValueIsTooLong() {
    FramesHost host = new FramesHost(index);
    try (PandoClient client = host.connect();
        ByteSession session = client.byteStrings().session()) {
      List<byte[]> keys = new ArrayList<>(keys(4));
      keys.set(1, new byte[65_536]);
      List<byte[]> values = values(4, 10);
      values.set(2, new byte[LONGEST + 1]);
      List<@Nullable RuntimeException> failures = storeAll(session, keys, values).failures;
      assertThat(failures.get(0)).isNull();
      assertThat(failures.get(1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the key is too long: keyBytes=65536, maximum=65535");
      assertThat(failures.get(2))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the value is too long: valueBytes=491521, maximum=491520");
      assertThat(failures.get(3)).isNull();
      try (ByteSession own = index.session()) {
        own.put(MemorySegment.ofArray(keys.get(2)), MemorySegment.ofArray(new byte[LONGEST + 1]));
      }
      Outcomes found = getAll(session, keys);
      assertThat(found.values.get(0)).isEqualTo(values.get(0));
      assertThat(found.failures.get(1)).isInstanceOf(IllegalArgumentException.class);
      assertThat(found.failures.get(2))
          .isInstanceOf(ClientException.class)
          .hasMessageContaining("the value is longer than a client takes");
      assertThat(found.values.get(3)).isEqualTo(values.get(3));
    }
  }

  /** Returns byte strings that fail for some keys. */
  private ByteStrings failing(NavigableSet<byte[]> failing) {
    return proxy(
        ByteStrings.class,
        index,
        (name, result, _) ->
            name.equals("session")
                ? proxy(
                    ByteSession.class,
                    Objects.requireNonNull(result),
                    (_, found, arguments) -> {
                      if (arguments != null
                          && arguments[0] instanceof MemorySegment key
                          && failing.contains(ByteKeys.bytes(key))) {
                        throw new PoolFullException("planted");
                      }
                      return found;
                    })
                : result);
  }

  /** Gives another result than an object's method. */
  @FunctionalInterface
  private interface Result {
    @Nullable Object of(String method, @Nullable Object result, Object @Nullable [] arguments);
  }

  private static <T> T proxy(Class<T> type, Object of, Result result) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              try {
                return result.of(method.getName(), method.invoke(of, arguments), arguments);
              } catch (InvocationTargetException e) {
                throw Objects.requireNonNull(e.getCause());
              }
            }));
  }

  @Test
  void shouldGoOnWhereServersFailForSomeKeys() {
    NavigableSet<byte[]> failing = new TreeSet<>(Arrays::compareUnsigned);
    try (ClientService service =
            ClientService.start(
                failing(failing), FREE_PORT, Authentication.none(), Routes::alone, 1);
        PandoClient client =
            PandoClient.connect(
                service.address().getHostString() + ":" + service.address().getPort(), PATIENT);
        ByteSession session = client.byteStrings().session()) {
      List<byte[]> keys = keys(100);
      storeAll(session, keys, values(100, 20)).check();
      failing.addAll(List.of(keys.get(7), keys.get(70)));
      Outcomes stored = storeAll(session, keys, values(100, 21));
      Outcomes found = getAll(session, keys);
      for (int i = 0; i < keys.size(); i++) {
        boolean fails = i == 7 || i == 70;
        for (Outcomes each : List.of(stored, found)) {
          if (fails) {
            assertThat(each.failures.get(i))
                .isInstanceOf(PoolFullException.class)
                .hasMessageContaining("planted");
          } else {
            assertThat(each.failures.get(i)).isNull();
          }
        }
        assertThat(found.values.get(i)).isEqualTo(fails ? null : values(100, 21).get(i));
      }
    }
  }

  @Test
  void shouldBeginNothingFurtherWhereTheReceiverSaysSo() {
    FramesHost host = new FramesHost(index);
    try (PandoClient client = host.connect();
        ByteSession session = client.byteStrings().session()) {
      Outcomes stored = new Outcomes();
      stored.stopsAt = 3;
      session.storeAll(segments(keys(200)), segments(values(200, 1)), stored::receive);
      assertThat(stored.values).as("those that were under way").hasSize(64);
      Outcomes found = new Outcomes();
      found.stopsAt = 0;
      session.getAll(segments(keys(200)), found::receive);
      assertThat(found.values).hasSize(16).doesNotContainNull();
      assertThat(getAll(session, keys(200)).check().values.subList(64, 200)).containsOnlyNulls();
    }
  }

  @Test
  void shouldBeOfUseBehindAReceiverThatThrows() {
    FramesHost host = new FramesHost(index);
    try (PandoClient client = host.connect();
        ByteSession session = client.byteStrings().session()) {
      List<MemorySegment> keys = segments(keys(2));
      assertThatThrownBy(() ->
              session.getAll(
                  keys,
                  (_, _, _) -> {
                    throw new UnsupportedOperationException("of the receiver");
                  }))
          .hasMessage("of the receiver");
      assertThatIllegalStateException()
          .isThrownBy(() -> session.getAll(keys, (_, _, _) -> session.get(keys.getFirst())))
          .withMessageContaining("a session must not be used by");
      storeAll(session, keys(2), values(2, 9)).check();
      checkValues(getAll(session, keys(2)).check().values, values(2, 9));
    }
  }

  @Test
  void shouldTakeAnEmptyBatchAndNoneAfterItsEnd() {
    FramesHost host = new FramesHost(index);
    try (PandoClient client = host.connect()) {
      ByteStrings strings = client.byteStrings();
      ByteSession session = strings.session();
      long before = host.waits();
      getAll(session, List.of());
      storeAll(session, List.of(), List.of());
      assertThat(host.waits()).isEqualTo(before);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> storeAll(session, keys(2), values(3, 1)))
          .withMessage("not as many values as keys: keys=2, values=3");
      session.close();
      assertThatIllegalStateException().isThrownBy(() -> getAll(session, keys(2)));
      assertThatIllegalStateException().isThrownBy(() -> getAll(session, List.of()));
      assertThatIllegalStateException().isThrownBy(() -> storeAll(session, keys(1), values(1, 1)));
      ByteSession other = strings.session();
      strings.close();
      assertThatIllegalStateException().isThrownBy(() -> getAll(other, keys(2)));
      assertThat(host.waits()).isEqualTo(before);
    }
  }
}
