package pando.client.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.wire.FrameException;
import pando.index.Seeds;

/** Requests byte by byte: one is as some client sends it, or refused. */
class RequestCheckTest {
  private static final int[] KINDS = {
    ClientFrame.OPERATIONS,
    ClientFrame.SCAN,
    ClientFrame.ROUTES,
    ClientFrame.STATUS,
    ClientFrame.BYTES,
    ClientFrame.BYTE_SCAN
  };

  private final FrameReader reader = FrameReader.ofRequests();

  private static byte[] request(int kind) throws IOException {
    FrameWriter writer = new FrameWriter();
    writer.begin(kind);
    if (kind == ClientFrame.OPERATIONS) {
      for (int op = Op.GET; op <= Op.SIZE; op++) {
        writer.operation(op, op, op, op, op);
      }
    } else if (kind == ClientFrame.SCAN) {
      writer.word(1);
      writer.word(9);
      writer.word(5);
    } else if (kind == ClientFrame.BYTES) {
      writer.pair(Op.REPLACE, 3);
      writer.pair(5, 2);
      writer.bytes(MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
      writer.fill();
    } else if (kind == ClientFrame.BYTE_SCAN) {
      writer.pair(1, 2);
      writer.pair(10, 100);
      writer.bytes(MemorySegment.ofArray(new byte[] {1, 1, 2}));
      writer.fill();
    }
    writer.finish(0, 7, 8);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    writer.send(Channels.newChannel(bytes));
    return bytes.toByteArray();
  }

  /** Reads a frame as a server does; returns whether a whole one was there. */
  private boolean read(byte[] bytes) throws IOException {
    reader.clear();
    assertThat(reader.read(Channels.newChannel(new ByteArrayInputStream(bytes)))).isPositive();
    boolean opened = reader.open();
    if (opened) {
      RequestCheck.check(reader);
    }
    return opened;
  }

  @Test
  void shouldTakeWhatClientsSend() throws IOException {
    for (int kind : KINDS) {
      assertThat(read(request(kind))).isTrue();
    }
  }

  @Test
  void shouldRefuseWhatWasDamagedOnItsWay() throws IOException {
    for (int kind : KINDS) {
      byte[] request = request(kind);
      for (int bit = 8 * Integer.BYTES; bit < 8 * request.length; bit++) {
        byte[] damaged = request.clone();
        damaged[bit / 8] ^= (byte) (1 << (bit % 8));
        assertThatExceptionOfType(FrameException.class).isThrownBy(() -> read(damaged));
      }
    }
  }

  /** With a right checksum: what is taken then is a request that another client may send. */
  @Test
  void shouldTakeOrRefuseWhateverComes() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.of(1830));
    int frames = Seeds.count(100_000, 200_000, 10_000_000);
    CRC32C crc = new CRC32C();
    int taken = 0;
    int refused = 0;
    for (int i = 0; i < frames; i++) {
      byte[] mutated = request(KINDS[random.nextInt(KINDS.length)]);
      for (int changes = random.nextInt(1, 5); changes > 0; changes--) {
        mutated[random.nextInt(mutated.length)] = (byte) random.nextInt();
      }
      ByteBuffer frame = ByteBuffer.wrap(mutated).order(ByteOrder.LITTLE_ENDIAN);
      frame.putInt(ClientFrame.CHECKSUM, 0);
      int length = Math.clamp(frame.getInt(0), ClientFrame.HEADER_BYTES, mutated.length);
      frame.putInt(ClientFrame.CHECKSUM, ClientFrame.checksum(crc, frame, 0, length));
      try {
        taken += read(mutated) ? 1 : 0;
      } catch (FrameException e) {
        refused++;
      }
    }
    assertThat(taken).isPositive();
    assertThat(refused).isGreaterThan(frames / 4);
  }

  private static byte[] bytes(FrameWriter writer) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    while (writer.unsent() > 0) {
      writer.send(Channels.newChannel(bytes));
    }
    return bytes.toByteArray();
  }

  /** Says lengths, and has as many bytes behind them as are given. */
  private static byte[] operation(int op, int key, int value, int expected, int bytes)
      throws IOException {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.BYTES);
    writer.pair(op, key);
    writer.pair(value, expected);
    writer.bytes(MemorySegment.ofArray(new byte[bytes]));
    writer.fill();
    writer.finish(0, 7, 8);
    return bytes(writer);
  }

  private void readAll(byte[] frame) throws IOException {
    ReadableByteChannel channel = Channels.newChannel(new ByteArrayInputStream(frame));
    reader.clear();
    while (!reader.open()) {
      assertThat(reader.read(channel)).isPositive();
    }
    RequestCheck.check(reader);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 65535, 491520, 0",
    "8, 65535, 491520, 491520",
    "9, 0, 0, 491520",
    "15, 0, 0, 0",
    "13, 0, 0, 0"
  })
  void shouldTakeByteStringsUpToTheirLimits(int op, int key, int value, int expected)
      throws IOException {
    readAll(operation(op, key, value, expected, key + value + expected));
    assertThat(reader.left()).isGreaterThanOrEqualTo(key + value + expected);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 65536, 0, 0, 65536",
    "2, 0, 491521, 0, 491521",
    "8, 0, 0, 491521, 491521",
    "2, 1, 0, 1, 2",
    "1, 1, 1, 0, 2",
    "9, 1, 1, 1, 3",
    "15, 1, 0, 0, 1",
    "12, 1, 0, 0, 1",
    "0, 1, 0, 0, 1",
    "16, 1, 0, 0, 1",
    "257, 1, 0, 0, 1",
    "2, -1, 1, 0, 0",
    "2, 2147483647, 2147483647, 0, 0",
    "8, 1, -1, -1, 0",
    "8, -8, 8, 0, 0",
    "2, 8, 8, 0, 8",
    "2, 8, 8, 0, 24"
  })
  void shouldRefuseOtherLengths(int op, int key, int value, int expected, int bytes)
      throws IOException {
    byte[] frame = operation(op, key, value, expected, bytes);
    assertThatExceptionOfType(FrameException.class)
        .isThrownBy(() -> readAll(frame))
        .withMessageContaining("no operation is like this");
  }

  /** A long frame takes memory as it comes, and gives it back. */
  @Test
  void shouldNotBelieveALength() throws IOException {
    ByteBuffer head = ByteBuffer.allocate(ClientFrame.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    head.putInt(0, ClientFrame.LONG_BYTES_MAX).put(ClientFrame.KIND, (byte) ClientFrame.BYTES);
    reader.clear();
    assertThat(reader.read(Channels.newChannel(new ByteArrayInputStream(head.array()))))
        .isEqualTo(ClientFrame.HEADER_BYTES);
    assertThat(reader.open()).isFalse();
    assertThat(reader.longLength()).isEqualTo(ClientFrame.LONG_BYTES_MAX);
    head.putInt(0, ClientFrame.LONG_BYTES_MAX + 8);
    reader.clear();
    assertThat(reader.read(Channels.newChannel(new ByteArrayInputStream(head.array()))))
        .isEqualTo(ClientFrame.HEADER_BYTES);
    assertThatExceptionOfType(FrameException.class).isThrownBy(reader::open);
    head.putInt(0, ClientFrame.BYTES_MAX + 8).put(ClientFrame.KIND, (byte) ClientFrame.SCAN);
    reader.clear();
    assertThat(reader.read(Channels.newChannel(new ByteArrayInputStream(head.array()))))
        .isEqualTo(ClientFrame.HEADER_BYTES);
    assertThatExceptionOfType(FrameException.class).as("of another kind").isThrownBy(reader::open);
  }
}
