package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What readers of connections leave in what their event loop shares. */
class RespReaderTest {
  private static final int SHARED_BYTES = 64 << 10;
  private static final int LARGE_BYTES = 1 << 20;

  private final byte[] shared = new byte[SHARED_BYTES];
  private final RespRequest[] ahead = new RespRequest[16];
  private final MemoryBudget budget = new MemoryBudget(1L << 30);

  RespReaderTest() {
    Arrays.setAll(ahead, _ -> new RespRequest());
  }

  private RespReader reader() {
    InetSocketAddress address = InetSocketAddress.createUnresolved("client", 1);
    return new RespReader(
        shared, ahead, budget, new RespClient(1, address, address, false, () -> {}));
  }

  /** Feeds bytes in pieces; returns how many requests there were. */
  private static int feed(RespReader reader, String bytes, int piece) throws ProtocolException {
    int requests = 0;
    for (int from = 0; from < bytes.length(); from += piece) {
      int to = Math.min(from + piece, bytes.length());
      reader.feed(Unpooled.copiedBuffer(bytes.substring(from, to), ISO_8859_1));
      while (reader.readAhead() > 0) {
        while (reader.next() != null) {
          requests++;
        }
      }
      reader.rest();
    }
    return requests;
  }

  private static String large() {
    return "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$"
        + LARGE_BYTES
        + "\r\n"
        + "v".repeat(LARGE_BYTES)
        + "\r\n";
  }

  @Test
  void shouldKeepNoLargeRequestOnceItIsServed() throws ProtocolException {
    RespReader reader = reader();
    assertThat(feed(reader, large(), 10_000)).isEqualTo(1);
    assertThat(ahead).allMatch(request -> request.bytes().length <= SHARED_BYTES);
  }

  /** A request of which a part has come goes from one connection's reader to another's slots. */
  @Test
  void shouldKeepNoLargeRequestOfAnotherConnection() throws ProtocolException {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 20; i++) {
      assertThat(feed(reader(), large(), 1_000 + random.nextInt(100_000))).isEqualTo(1);
      RespReader idle = reader();
      assertThat(feed(idle, "*1\r\n", 4)).isZero();
      assertThat(ahead).allMatch(request -> request.bytes().length <= SHARED_BYTES);
      assertThat(feed(idle, "$4\r\nPING\r\n", 3)).isEqualTo(1);
    }
  }

  @Test
  void shouldKeepNothingOfAConnectionThatEnds() throws ProtocolException {
    RespReader reader = reader();
    String bytes = large();
    int half = bytes.length() / 2;
    assertThat(feed(reader, bytes.substring(0, half), 10_000)).isZero();
    reader.feed(Unpooled.copiedBuffer(bytes.substring(half), ISO_8859_1));
    assertThat(reader.readAhead()).isEqualTo(1);
    reader.close();
    assertThat(ahead).allMatch(request -> request.bytes().length <= SHARED_BYTES);
    assertThat(budget.tryTake(1L << 30)).isTrue();
  }
}
