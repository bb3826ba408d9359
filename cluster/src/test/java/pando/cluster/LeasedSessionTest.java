package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.index.Session;
import pando.index.bytes.ByteSession;

@Timeout(60)
class LeasedSessionTest {
  private static final ComputeServer NAME = new ComputeServer(3, 1);

  /** A session over a cache in which nothing is: it finds nothing, and issues no verb. */
  private static final Session EMPTY = empty(Session.class);

  private static final ByteSession EMPTY_BYTES = empty(ByteSession.class);

  private static final MemorySegment KEY = MemorySegment.ofArray(new byte[1]);

  private static <T> T empty(Class<T> kind) {
    return kind.cast(
        Proxy.newProxyInstance(
            kind.getClassLoader(),
            new Class<?>[] {kind},
            (_, method, _) -> method.getReturnType() == long.class ? (Object) 0L : false));
  }

  static Stream<Named<Consumer<Session>>> questions() {
    return Stream.of(
        Named.of("get", session -> session.get(1)),
        Named.of("floor", session -> session.floor(1)),
        Named.of("first", Session::first),
        Named.of("scan", session -> session.scan(1, 9, 9, (_, _) -> true)),
        Named.of("scanDown", session -> session.scanDown(1, 9, 9, (_, _) -> true)));
  }

  @ParameterizedTest
  @MethodSource("questions")
  void shouldNotSayThatNothingIsThereOnceFenced(Consumer<Session> question) {
    try (LocalPool pool = pool();
        Fabric other = pool.attach(new ComputeServer(4, 1), 1);
        Fabric own = pool.attach(NAME, 2);
        Lease lease = Lease.take(own, Duration.ofMillis(20))) {
      other.fence(NAME.number(), NAME.epoch() + 1);
      awaitFenced(lease);
      Session session = new LeasedSession(EMPTY, lease);
      assertThatThrownBy(() -> question.accept(session)).isInstanceOf(FencedException.class);
    }
  }

  static Stream<Named<Consumer<ByteSession>>> byteQuestions() {
    return Stream.of(
        Named.of("get", session -> session.get(KEY)),
        Named.of("floor", session -> session.floor(KEY)),
        Named.of("ceiling", session -> session.ceiling(KEY)),
        Named.of("lower", session -> session.lower(KEY)),
        Named.of("higher", session -> session.higher(KEY)),
        Named.of("first", ByteSession::first),
        Named.of("last", ByteSession::last),
        Named.of("scan", session -> session.scan(KEY, null, 9, (_, _) -> true)),
        Named.of("scanDown", session -> session.scanDown(null, KEY, 9, (_, _) -> true)));
  }

  static Stream<Named<Consumer<ByteSession>>> byteChanges() {
    return Stream.of(
        Named.of("put", session -> session.put(KEY, KEY)),
        Named.of("putIfAbsent", session -> session.putIfAbsent(KEY, KEY)),
        Named.of("update", session -> session.update(KEY, KEY)),
        Named.of("remove", session -> session.remove(KEY)),
        Named.of("replace", session -> session.replace(KEY, KEY, KEY)),
        Named.of("remove expected", session -> session.remove(KEY, KEY)),
        Named.of("store", session -> session.store(KEY, KEY)),
        Named.of("discard", session -> session.discard(KEY)));
  }

  @ParameterizedTest
  @MethodSource("byteQuestions")
  void shouldNotSayThatNoByteStringIsThereOnceFenced(Consumer<ByteSession> question) {
    assertEndsOnceFenced(question, FencedException.class);
  }

  @ParameterizedTest
  @MethodSource("byteChanges")
  void shouldNotKnowWhatChangesOfByteStringsCameToOnceFenced(Consumer<ByteSession> change) {
    assertEndsOnceFenced(change, UnknownOutcomeException.class);
  }

  private static void assertEndsOnceFenced(
      Consumer<ByteSession> operation, Class<? extends Throwable> end) {
    try (LocalPool pool = pool();
        Fabric other = pool.attach(new ComputeServer(4, 1), 1);
        Fabric own = pool.attach(NAME, 2);
        Lease lease = Lease.take(own, Duration.ofMillis(20))) {
      other.fence(NAME.number(), NAME.epoch() + 1);
      awaitFenced(lease);
      ByteSession session = new LeasedByteSession(EMPTY_BYTES, lease);
      assertThatThrownBy(() -> operation.accept(session)).isInstanceOf(end);
    }
  }

  @Test
  void shouldAnswerWhileTheLeaseIsHeld() {
    try (LocalPool pool = pool();
        Fabric own = pool.attach(NAME, 2);
        Lease lease = Lease.take(own, Duration.ofSeconds(20))) {
      assertThat(new LeasedSession(EMPTY, lease).scan(1, 9, 9, (_, _) -> true)).isZero();
      assertThat(new LeasedByteSession(EMPTY_BYTES, lease).put(KEY, KEY)).isFalse();
    }
  }

  private static LocalPool pool() {
    return LocalPool.start(PoolOptions.defaults().withBytesPerServer(8 << 20));
  }

  /** Waits until the lease is over, and never held again. */
  private static void awaitFenced(Lease lease) {
    while (!lease.isFenced() || lease.isHeld()) {
      Thread.onSpinWait();
    }
  }
}
