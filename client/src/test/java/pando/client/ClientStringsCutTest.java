package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.CuttingProxy;
import pando.fabric.tcp.FaultProxy;
import pando.fabric.tcp.FaultProxy.Fault;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteSession;

/** Connections that are cut, and what each operation on byte strings came to. */
@Timeout(120)
class ClientStringsCutTest {
  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private static final ClientOptions PATIENT =
      ClientOptions.defaults()
          .withAnswerTimeout(Duration.ofSeconds(5))
          .withPatience(Duration.ofSeconds(20));

  private Fabric fabric;
  private ByteIndex index;
  private ClientService service;

  @BeforeEach
  void open() {
    fabric = Pools.open(2, 64 << 20, 1);
    index = ByteIndex.create(fabric, ClientStringsTest.tiny());
    service = ClientService.start(index, FREE_PORT, Authentication.none(), Routes::alone, 1);
  }

  @AfterEach
  void close() {
    service.close();
    index.close();
    fabric.close();
  }

  private static String text(InetSocketAddress address) {
    return address.getHostString() + ":" + address.getPort();
  }

  private static MemorySegment value(int length, int round) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) round);
    return MemorySegment.ofArray(bytes);
  }

  private static byte @Nullable [] found(ByteSession session, MemorySegment key) {
    return session.get(key) ? ByteKeys.bytes(session.value()) : null;
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"BEFORE", "WITHIN", "BEHIND", "WITHIN_RESPONSE", "FLIPPED", "DELAYED"})
  void shouldKnowWhatAChangeCameTo(Fault fault) throws IOException {
    MemorySegment key = MemorySegment.ofArray(new byte[] {'k'});
    try (FaultProxy proxy =
            FaultProxy.start(service.address(), Seeds.of(2311), request -> request.length);
        PandoClient client = PandoClient.connect(text(proxy.address()), PATIENT);
        ByteSession session = client.byteStrings().session()) {
      for (int length : new int[] {10, 100_000}) {
        session.put(key, value(length, 1));
        proxy.inject(fault);
        Throwable failure = catchThrowable(() -> session.put(key, value(length, 2)));
        byte[] found = found(session, key);
        if (fault.isHarmless()) {
          assertThat(failure).isNull();
          assertThat(found).containsOnly(2);
        } else {
          assertThat(failure).isInstanceOf(UnknownOutcomeException.class);
          assertThat(found).containsOnly(fault.isServed() ? 2 : 1);
        }
        proxy.inject(fault);
        assertThat(session.floor(key)).as("what changes nothing is asked again").isTrue();
        proxy.inject(fault);
        assertThat(session.scan(MemorySegment.NULL, null, 9, (_, _) -> true)).isEqualTo(1);
      }
    }
  }

  /** Each key has a value that was stored, or one of those of which that is not known. */
  @Test
  void shouldSurviveCutsAnywhere() throws IOException {
    long seed = Seeds.of(2312);
    int operations = Seeds.count(1_500, 3_000, 50_000);
    SplittableRandom random = new SplittableRandom(seed);
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    int unknown = 0;
    try (CuttingProxy proxy = CuttingProxy.start(service.address(), 5_000, seed);
        PandoClient client = connect(proxy);
        ByteSession session = client.byteStrings().session()) {
      for (int i = 0; i < operations; i++) {
        byte[] key = ByteKeys.draw(random, 2);
        byte @Nullable [] stored = random.nextInt(4) == 0 ? null : ByteKeys.value(random, 300);
        MemorySegment its = MemorySegment.ofArray(key);
        byte @Nullable [] before = model.get(key);
        try {
          boolean wasThere =
              stored == null
                  ? session.remove(its)
                  : session.put(its, MemorySegment.ofArray(stored));
          assertThat(wasThere).isEqualTo(before != null);
          settle(model, key, stored);
        } catch (UnknownOutcomeException e) {
          unknown++;
          byte @Nullable [] found = found(session, its);
          assertThat(Arrays.equals(found, before) || Arrays.equals(found, stored)).isTrue();
          settle(model, key, found);
        }
      }
      proxy.stopCutting();
      ByteModelRun.checkAll(session, model);
      assertThat(unknown).isGreaterThan(5);
    }
    try (ByteSession own = index.session()) {
      ByteModelRun.checkAll(own, model);
    }
  }

  private static PandoClient connect(CuttingProxy proxy) {
    while (true) {
      try {
        return PandoClient.connect(text(proxy.address()), PATIENT);
      } catch (ClientException cut) {
        // Again, by another connection.
      }
    }
  }

  private static void settle(
      NavigableMap<byte[], byte[]> model, byte[] key, byte @Nullable [] value) {
    if (value == null) {
      model.remove(key);
    } else {
      model.put(key, value);
    }
  }
}
