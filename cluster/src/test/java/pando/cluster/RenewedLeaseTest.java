package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** A compute server that is fenced after it has cached its entries, so that no verb shows it. */
@Timeout(60)
class RenewedLeaseTest {
  private static final ComputeServer NAME = new ComputeServer(3, 1);
  private static final MemorySegment KEY = MemorySegment.ofArray(new byte[] {1});

  private final LocalPool pool =
      LocalPool.start(
          PoolOptions.defaults().withBytesPerServer(64 << 20).withHandlers(Systems.handlers()));
  private final Fabric other = pool.attach(new ComputeServer(4, 1), 1);
  private final Fabric own = pool.attach(NAME, 2);
  private final RenewedLease lease = RenewedLease.take(own, Duration.ofMillis(20));

  @AfterEach
  void close() {
    lease.close();
    own.close();
    other.close();
    pool.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"dex", "orca"})
  void shouldNotAnswerFromCachesOnceFenced(String system) {
    RangeIndex index = Systems.named(system).tiny().create(own);
    index.partitions().orElseThrow().answerWhile(lease);
    Session session = index.session();
    session.put(1, 2);
    assertThat(session.get(1)).isTrue();
    fence();
    long trips = index.verbs().roundTrips;
    assertThatExceptionOfType(FencedException.class).isThrownBy(() -> session.get(1));
    assertThatExceptionOfType(FencedException.class).isThrownBy(session::first);
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> session.scan(0, 9, 9, (_, _) -> true));
    assertThat(index.verbs().roundTrips).isEqualTo(trips);
    // A put that has to READ is refused there.
    assertThatThrownBy(() -> session.put(1, 3))
        .isInstanceOfAny(UnknownOutcomeException.class, FencedException.class);
  }

  @Test
  void shouldNotAnswerByteStringsFromCachesOnceFenced() {
    ByteStrings strings = ByteOptions.defaults().withCacheBytes(1 << 20).createAt(own, 0);
    strings.partitions().orElseThrow().answerWhile(lease);
    ByteSession session = strings.session();
    session.put(KEY, KEY);
    assertThat(session.get(KEY)).isTrue();
    fence();
    assertThatExceptionOfType(FencedException.class).isThrownBy(() -> session.get(KEY));
    assertThatExceptionOfType(FencedException.class).isThrownBy(session::last);
    assertThatExceptionOfType(FencedException.class)
        .isThrownBy(() -> session.scan(KEY, null, 9, (_, _) -> true));
  }

  /** Returns once the lease is over, and is never held again. */
  private void fence() {
    other.fence(NAME.number(), NAME.epoch() + 1);
    while (!lease.isFenced() || lease.isHeld()) {
      Thread.onSpinWait();
    }
  }
}
