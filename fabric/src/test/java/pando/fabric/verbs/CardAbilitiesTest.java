package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.layout.ServerLayout;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.wire.CardAccess;

/**
 * What is found out about a card that has neither memory of its own nor masked atomics; only where
 * there is a card, and it is such a one.
 */
@Timeout(300)
@Tag(TestCards.TAG)
class CardAbilitiesTest {
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final PoolOptions POOL =
      PoolOptions.defaults().withMemoryServers(1).withBytesPerServer(16 << 20);
  private static final long ON_CHIP = GlobalAddress.onChip(0, 128);

  private String card = "";

  @BeforeEach
  void findCard() {
    card = TestCards.first();
  }

  @Test
  void shouldSayThatItHasNothingBeyondVerbs() {
    Cards.Description found = Cards.describe(card);
    assertThat(found.deviceMemoryBytes()).isZero();
    assertThat(found.maskedAtomics()).isEqualTo(Capabilities.MaskedAtomics.EMULATED);
    assertThat(found.cas16()).isFalse();
    try (Device device = Device.open(card)) {
      assertThat(device.hasRawRequests()).isFalse();
      assertThat(DeviceMemory.allocate(device, ServerLayout.ON_CHIP_BYTES)).isEmpty();
      assertThat(OnChipMemory.find(device, CardOptions.defaults())).isNull();
    }
  }

  @Test
  void shouldTryVerbsOnALineOfItsOwn() {
    try (Device device = Device.open(card);
        NativeMemory memory = NativeMemory.allocate(3 * Offer.SCRATCH_BYTES);
        Region region = device.register(memory.segment(), IbvMr.ALL_ACCESS);
        Loopback loopback = new Loopback(device)) {
      Offer.Place line =
          new Offer.Place(region.address() + Offer.SCRATCH_BYTES, region.remoteKey());
      Words.set(memory.segment(), 2 * Offer.SCRATCH_BYTES, 42);
      assertThat(CardTrial.on(device, loopback, line, CardTrial::seesPlain)).isTrue();
      assertThat(CardTrial.on(device, loopback, line, CardTrial::seesQuietly)).isTrue();
      // Its queue pairs break, and are made anew.
      Offer.Place wrong = new Offer.Place(line.address(), region.remoteKey() + 1);
      assertThat(CardTrial.on(device, loopback, wrong, CardTrial::seesPlain)).isFalse();
      assertThat(CardTrial.on(device, loopback, line, CardTrial::seesPlain)).isTrue();
      assertThat(Words.get(memory.segment(), 2 * Offer.SCRATCH_BYTES)).isEqualTo(42);
    }
  }

  @Test
  void shouldTryVerbsOnAScratchLineOfTheMemoryServer() {
    try (TcpMemoryServer server = start(UnaryOperator.identity());
        Fabric control = TcpFabric.attach(addresses(server), 1, TcpOptions.defaults());
        RegisteredMemory message = control.register(Worker.CALL_BYTES_MAX);
        Worker asker = control.worker(message);
        Device device = Device.open(card);
        ServerWay way = new ServerWay(device, asker, 0)) {
      assertThat(CardTrial.on(device, way, way.offer().scratch(), CardTrial::seesPlain)).isTrue();
      Offer.Place wrong = new Offer.Place(way.offer().scratch().address(), 1);
      assertThat(CardTrial.on(device, way, wrong, CardTrial::seesPlain)).isFalse();
      assertThat(CardTrial.on(device, way, way.offer().scratch(), CardTrial::seesPlain)).isTrue();
    }
  }

  @Test
  void shouldRefuseToEmulateWhereNativeAtomicsAreAskedFor() {
    CardOptions options =
        CardOptions.defaults().withMaskedAtomics(CardOptions.MaskedAtomics.NATIVE);
    try (TcpMemoryServer server = start(UnaryOperator.identity())) {
      assertThatThrownBy(() -> attach(server, options))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("masked atomics")
          .hasMessageContaining("card=" + card)
          .hasMessageContaining("server=0");
    }
  }

  @Test
  void shouldSayWhatTheOperatorKnows() {
    try (TcpMemoryServer server = start(UnaryOperator.identity());
        Fabric fabric = attach(server, CardOptions.defaults().withLineAtomicity(64))) {
      assertThat(fabric.capabilities().atomicityBytes()).isEqualTo(64);
      assertThat(fabric.capabilities().onChip()).isEqualTo(Capabilities.OnChip.HOST);
    }
  }

  /** In place of a card's memory, other memory with a key of its own. */
  @Test
  void shouldReachAnOnChipRegionThatIsElsewhere() {
    try (NativeMemory elsewhere = NativeMemory.allocate(ServerLayout.ON_CHIP_BYTES);
        TcpMemoryServer server = startElsewhere(elsewhere.segment());
        Fabric fabric = attach(server, CardOptions.defaults());
        RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      assertThat(fabric.capabilities().onChip()).isEqualTo(Capabilities.OnChip.CARD);
      assertThat(worker.faa(ON_CHIP, 7)).isZero();
      assertThat(worker.maskedCas(ON_CHIP, 7, 0xff, 9, 0xff)).isEqualTo(7);
      assertThat(Words.get(elsewhere.segment(), 128)).isEqualTo(9);
      Words.set(memory.segment(), 0, 11);
      long last = GlobalAddress.onChip(0, ServerLayout.ON_CHIP_BYTES - 8);
      worker.write(last, 0, 8);
      assertThat(Words.get(elsewhere.segment(), ServerLayout.ON_CHIP_BYTES - 8)).isEqualTo(11);
      assertThatThrownBy(() -> worker.read(last, 0, 16))
          .isInstanceOf(InvalidAddressException.class);
      long dram = GlobalAddress.of(0, fabric.dramBytes(0) - 8);
      assertThat(worker.faa(dram, 5)).isZero();
      assertThat(worker.faa(dram, 0)).isEqualTo(5);
    }
  }

  /** The memory server is wrong about its card. */
  @Test
  void shouldRefuseAnOnChipRegionThatIsNotReached() {
    try (TcpMemoryServer server = start(offer -> withOnChip(offer, new Offer.Place(0, 1)))) {
      assertThatThrownBy(() -> attach(server, CardOptions.defaults()))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("on-chip region")
          .hasMessageContaining("server=0");
    }
  }

  private static List<InetSocketAddress> addresses(TcpMemoryServer server) {
    return List.of(server.address());
  }

  private Fabric attach(TcpMemoryServer server, CardOptions options) {
    return VerbsFabric.attach(addresses(server), 1, TcpOptions.defaults(), card, options);
  }

  private TcpMemoryServer start(UnaryOperator<Offer> change) {
    return startCard(opened -> new OtherOffers(opened, change, () -> {}));
  }

  private TcpMemoryServer startCard(Function<MemoryCard, CardAccess> cards) {
    return TcpMemoryServer.start(
        ANY,
        0,
        POOL,
        Authentication.none(),
        memory -> cards.apply(new MemoryCard(card, memory, 1, CardOptions.defaults())));
  }

  private TcpMemoryServer startElsewhere(MemorySegment elsewhere) {
    return startCard(opened -> {
      Region region = opened.device().register(elsewhere, IbvMr.ALL_ACCESS);
      return new OtherOffers(opened, offer -> withOnChip(offer, region.place()), region::close);
    });
  }

  private static Offer withOnChip(Offer offer, Offer.Place place) {
    return new Offer(offer.endpoint(), offer.dram(), place, offer.scratch(), Atomics.NONE);
  }
}
