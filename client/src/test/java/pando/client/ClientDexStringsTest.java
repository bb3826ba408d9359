package pando.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.client.server.ClientService;
import pando.fabric.tcp.Authentication;
import pando.index.Partitioning;
import pando.index.Seeds;
import pando.index.bytes.ByteEnds;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;
import pando.index.dex.DexOptions;
import pando.index.dex.StringProcesses;

/** Byte strings over the network to two compute servers, which share them over DEX. */
@Timeout(300)
class ClientDexStringsTest {
  private static final int OPERATIONS = Seeds.count(4_000, 8_000, 100_000);
  private static final ClientOptions PATIENT =
      ClientOptions.defaults().withPatience(Duration.ofSeconds(30));

  private StringProcesses processes;
  private final List<ClientService> services = new ArrayList<>();

  @BeforeEach
  void open() {
    processes =
        new StringProcesses(
            DexOptions.defaults()
                .with("key-bytes", "16")
                .with("node-bytes", "256")
                .with("cache-bytes", String.valueOf(64 * 256))
                .with("compute-servers", "32"));
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    for (int i = 0; i < 2; i++) {
      ByteStrings strings = processes.strings(i);
      services.add(
          ClientService.start(
              strings, any, Authentication.none(), () -> routes(strings.partitioning()), 1));
    }
  }

  private Routes routes(Partitioning known) {
    return Routes.of(known, owner -> Optional.of(address(owner == StringProcesses.FIRST ? 0 : 1)));
  }

  private String address(int process) {
    InetSocketAddress address = services.get(process).address();
    return address.getHostString() + ":" + address.getPort();
  }

  @AfterEach
  void close() {
    services.forEach(ClientService::close);
    processes.close();
  }

  @Test
  void shouldHaveTheEmptyStringAndTheLongestOnes() {
    try (PandoClient client = PandoClient.connect(address(0) + "," + address(1), PATIENT);
        ByteStrings strings = client.byteStrings();
        ByteSession session = strings.session()) {
      ByteEnds.check(session, strings.keyBytesMax());
    }
  }

  @Test
  void shouldBehaveLikeTreeMapWhileRangesMove() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2311));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (PandoClient client = PandoClient.connect(address(0) + "," + address(1), PATIENT);
        ByteStrings strings = client.byteStrings();
        ByteSession session = strings.session()) {
      for (int i = 0; i < OPERATIONS; i++) {
        if (i % 64 == 0) {
          processes.move(random);
        }
        boolean shrinks = i / (OPERATIONS / 8) % 2 == 1;
        byte[] key = ByteKeys.draw(random, strings.keyBytesMax());
        ByteModelRun.operate(session, model, random, shrinks, key, ByteKeys.value(random, 300));
      }
      ByteModelRun.checkAll(session, model);
    }
  }

  /** The strings right at a boundary, where the other compute server begins. */
  @Test
  void shouldCrossTheBoundaryOfRanges() {
    try (PandoClient client = PandoClient.connect(address(0), PATIENT);
        ByteStrings strings = client.byteStrings();
        ByteSession session = strings.session()) {
      long low = processes.strings(0).partitioning().lowOfRange(1);
      byte[] first = ByteKeys.bytes(KeyBounds.first(low));
      byte[] below = ByteKeys.bytes(KeyBounds.first(low - 1));
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      for (byte[] key : List.of(below, Arrays.copyOf(below, 14), first, Arrays.copyOf(first, 9))) {
        session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(new byte[20]));
        model.put(key, new byte[20]);
      }
      for (byte[] key : model.keySet()) {
        MemorySegment its = MemorySegment.ofArray(key);
        check(session, session.lower(its), model.lowerKey(key));
        check(session, session.higher(its), model.higherKey(key));
        check(session, session.floor(its), key);
        check(session, session.ceiling(its), key);
      }
      ByteModelRun.checkAll(session, model);
    }
  }

  private static void check(ByteSession session, boolean found, byte[] key) {
    assertThat(found).isEqualTo(key != null);
    if (key != null) {
      assertThat(ByteKeys.bytes(session.key())).isEqualTo(key);
    }
  }
}
