package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.fabric.wire.FrameException;
import pando.index.Partitioning;
import pando.index.Seeds;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteKeys;

/** Routes as they come, also of a compute server that answers wrongly. */
class RoutesReaderTest {
  private static final int BOTH = ClientFrame.PARTITIONED | ClientFrame.OF_STRINGS;

  private static byte[] sent(FrameWriter writer) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (writer.unsent() > 0) {
      writer.send(Channels.newChannel(bytes));
    }
    return bytes.toByteArray();
  }

  private static Routes read(FrameWriter writer) throws IOException {
    FrameReader reader = FrameReader.ofResponses();
    ReadableByteChannel channel = Channels.newChannel(new ByteArrayInputStream(sent(writer)));
    while (!reader.open()) {
      assertThat(reader.read(channel)).isPositive();
    }
    return RoutesReader.read(reader);
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static FrameWriter frame(int flags, String... fences) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.ROUTES);
    for (int i = 0; i < fences.length; i++) {
      writer.route(Long.MIN_VALUE + i, i, "host:" + i);
      writer.fence(bytes(fences[i]));
    }
    writer.finish(flags, 1, 7);
    return writer;
  }

  private static Routes.Route route(int range, MemorySegment fence) {
    return new Routes.Route(Long.MIN_VALUE + range, fence, range, "host:" + range);
  }

  @Test
  void shouldReadFences() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.of(2361));
    for (int round = 0; round < 500; round++) {
      NavigableSet<byte[]> fences = new TreeSet<>(Arrays::compareUnsigned);
      fences.add(new byte[0]);
      for (int more = random.nextInt(Routes.ROUTES_MAX); more > 0; more--) {
        fences.add(ByteKeys.draw(random, 30));
      }
      List<Routes.Route> routes = new ArrayList<>();
      FrameWriter writer = new FrameWriter();
      writer.begin(ClientFrame.ROUTES);
      for (byte[] fence : fences) {
        Routes.Route next = route(routes.size(), ByteKeys.of(fence));
        writer.route(next.low(), next.owner(), next.address());
        writer.fence(next.fence());
        routes.add(next);
      }
      writer.finish(BOTH, 1, 7);
      Routes expected = new Routes(7, true, true, routes);
      assertThat(read(writer)).isEqualTo(expected).hasSameHashCodeAs(expected);
      Partitioning table = expected.partitioning();
      assertThat(Routes.of(table, owner -> Optional.of("host:" + owner))).isEqualTo(expected);
    }
  }

  @Test
  void shouldTellRoutesByTheirFences() {
    assertThat(route(1, bytes("a"))).isNotEqualTo(route(1, bytes("b")));
    assertThat(route(1, bytes("a")).fence().isReadOnly()).isTrue();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> route(1, MemorySegment.ofArray(new byte[65_536])))
        .withMessage("the fence is too long: bytes=65536, maximum=65535");
  }

  /** The longest of all, and the least that is too long. */
  @ParameterizedTest
  @ValueSource(ints = {65_535, 65_536})
  void shouldTakeManyLongFences(int fenceBytes) throws IOException {
    String address = "h".repeat(300);
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.ROUTES);
    for (int i = 0; i < Routes.ROUTES_MAX; i++) {
      writer.route(Long.MIN_VALUE + i, i, address);
      byte[] fence = new byte[i == 0 ? 0 : fenceBytes];
      if (i > 0) {
        fence[fence.length - 1] = (byte) i;
      }
      writer.fence(MemorySegment.ofArray(fence));
    }
    writer.finish(BOTH, 1, 7);
    if (fenceBytes > ClientFrame.KEY_BYTES_MAX) {
      assertThatExceptionOfType(FrameException.class)
          .isThrownBy(() -> read(writer))
          .withMessageContaining("the fence is too long");
    } else {
      Routes routes = read(writer);
      assertThat(routes.routes()).hasSize(Routes.ROUTES_MAX);
      assertThat(routes.partitioning().fenceOfRange(63).byteSize()).isEqualTo(fenceBytes);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "3, a, b, c",
    "3, '', b, a",
    "3, '', b, b",
    "3, '', '', b",
    "3, '', aaaaaaaab, aaaaaaaaa",
    "2, '', a, b"
  })
  void shouldRefuseFencesThatDoNotAscend(int flags, String first, String second, String third) {
    assertThatExceptionOfType(FrameException.class)
        .isThrownBy(() -> read(frame(flags, first, second, third)))
        .withMessageContaining("fences");
  }

  @Test
  void shouldRefuseFencesOfRoutesThatHaveNone() {
    assertThatExceptionOfType(FrameException.class)
        .isThrownBy(() -> read(frame(ClientFrame.PARTITIONED, "", "a")));
  }

  @ParameterizedTest
  @ValueSource(
      longs = {-1, 1, 8, 9, 65_536, Integer.MAX_VALUE, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE})
  void shouldRefuseLengthsThatAreNotThere(long bytes) {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.ROUTES);
    writer.route(Long.MIN_VALUE, 0, "host:1");
    writer.word(bytes);
    writer.finish(BOTH, 1, 7);
    assertThatExceptionOfType(FrameException.class)
        .isThrownBy(() -> read(writer))
        .withMessageStartingWith("a fence that is not there: bytes=" + bytes);
  }

  @Test
  void shouldRefuseARouteWithoutAFence() {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.ROUTES);
    writer.route(Long.MIN_VALUE, 0, "host:1");
    writer.finish(BOTH, 1, 7);
    assertThatExceptionOfType(FrameException.class)
        .isThrownBy(() -> read(writer))
        .withMessageStartingWith("a fence that is not there");
  }

  /** Whatever comes is a table, or refused. */
  @Test
  void shouldTakeOrRefuseWhateverComes() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.of(2362));
    int rounds = Seeds.count(20_000, 40_000, 2_000_000);
    int refused = 0;
    for (int round = 0; round < rounds; round++) {
      FrameWriter writer = new FrameWriter();
      writer.begin(ClientFrame.ROUTES);
      int count = random.nextInt(4);
      for (int i = 0; i < count; i++) {
        writer.word(random.nextInt(10) == 0 ? random.nextLong() : Long.MIN_VALUE + i);
        int address = random.nextInt(10) == 0 ? random.nextInt() : 0;
        writer.word((i & 0xffff_ffffL) | (long) address << Integer.SIZE);
        writer.fence(ByteKeys.of(ByteKeys.draw(random, i == 0 ? 0 : 9)));
      }
      if (random.nextInt(8) == 0) {
        writer.word(random.nextInt(10));
      }
      writer.count(count + (random.nextInt(8) == 0 ? random.nextInt(-1, 2) & 0xffff : 0));
      writer.finish(random.nextInt(8) == 0 ? random.nextInt(256) : BOTH, 1, 7);
      try {
        checkTable(read(writer));
      } catch (FrameException e) {
        refused++;
      }
    }
    assertThat(refused).isBetween(rounds / 8, rounds * 7 / 8);
  }

  private static void checkTable(Routes routes) {
    Partitioning table = routes.partitioning();
    assertThat(table.hasFences()).isEqualTo(routes.isOfStrings());
    for (int range = 1; range < table.servers() && table.hasFences(); range++) {
      assertThat(ByteIndex.compare(table.fenceOfRange(range - 1), table.fenceOfRange(range)))
          .isNegative();
    }
  }
}
