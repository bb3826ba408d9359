package pando.client.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import pando.fabric.wire.FrameException;
import pando.index.Seeds;

/** Requests byte by byte: one is as some client sends it, or refused. */
class RequestCheckTest {
  private final FrameReader reader = new FrameReader();

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
    for (int kind = ClientFrame.OPERATIONS; kind <= ClientFrame.STATUS; kind++) {
      assertThat(read(request(kind))).isTrue();
    }
  }

  @Test
  void shouldRefuseWhatWasDamagedOnItsWay() throws IOException {
    for (int kind = ClientFrame.OPERATIONS; kind <= ClientFrame.STATUS; kind++) {
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
    int frames = Seeds.count(100_000, 10_000_000);
    CRC32C crc = new CRC32C();
    int taken = 0;
    int refused = 0;
    for (int i = 0; i < frames; i++) {
      byte[] mutated = request(random.nextInt(ClientFrame.OPERATIONS, ClientFrame.STATUS + 1));
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
}
