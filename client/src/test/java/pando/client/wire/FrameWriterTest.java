package pando.client.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames as they are written, and read again. */
class FrameWriterTest {
  /** Wherever the frame has to grow: at a word, within bytes, or at what fills them up. */
  @ParameterizedTest
  @ValueSource(ints = {1, 7, 8, 9, 100, 5_000})
  void shouldKeepAllWhileItGrows(int stringBytes) throws IOException {
    FrameWriter writer = new FrameWriter();
    writer.begin(ClientFrame.BYTE_SCAN);
    byte[] string = new byte[stringBytes];
    int count = 900_000 / (Long.BYTES + ClientFrame.padded(stringBytes));
    for (int i = 0; i < count; i++) {
      writer.pair(i, -i);
      string[i % stringBytes] = (byte) i;
      writer.bytes(MemorySegment.ofArray(string));
      writer.fill();
    }
    writer.finish(0, 1, 2);
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    while (writer.unsent() > 0) {
      writer.send(Channels.newChannel(sent));
    }
    FrameReader reader = FrameReader.ofResponses();
    ReadableByteChannel channel = Channels.newChannel(new ByteArrayInputStream(sent.toByteArray()));
    while (!reader.open()) {
      assertThat(reader.read(channel)).isPositive();
    }
    byte[] expected = new byte[stringBytes];
    for (int i = 0; i < count; i++) {
      assertThat(reader.word(0)).isEqualTo((i & 0xffff_ffffL) | (long) -i << Integer.SIZE);
      reader.skip(Long.BYTES);
      expected[i % stringBytes] = (byte) i;
      assertThat(reader.bytes(stringBytes).mismatch(MemorySegment.ofArray(expected))).isEqualTo(-1);
      reader.skip(ClientFrame.padded(stringBytes) - stringBytes);
    }
    assertThat(reader.left()).isZero();
  }
}
