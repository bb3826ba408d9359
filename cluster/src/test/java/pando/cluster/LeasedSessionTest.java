package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.index.Session;

@Timeout(60)
class LeasedSessionTest {
  private static final ComputeServer NAME = new ComputeServer(3, 1);

  /** A session over a cache in which nothing is: it finds nothing, and issues no verb. */
  private static final Session EMPTY =
      (Session)
          Proxy.newProxyInstance(
              Session.class.getClassLoader(),
              new Class<?>[] {Session.class},
              (_, method, _) -> method.getReturnType() == long.class ? (Object) 0L : false);

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

  @Test
  void shouldAnswerWhileTheLeaseIsHeld() {
    try (LocalPool pool = pool();
        Fabric own = pool.attach(NAME, 2);
        Lease lease = Lease.take(own, Duration.ofSeconds(20))) {
      assertThat(new LeasedSession(EMPTY, lease).scan(1, 9, 9, (_, _) -> true)).isZero();
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
