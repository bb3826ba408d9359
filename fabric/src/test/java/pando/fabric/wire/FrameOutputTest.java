package pando.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FrameOutputTest {
  private static final int REQUESTS = 2_000;
  private static final int BYTES_MAX = 20_000;

  /** Takes a part of what it is given. */
  private static final class SlowChannel implements WritableByteChannel {
    private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
    private final SplittableRandom random;

    SlowChannel(SplittableRandom random) {
      this.random = random;
    }

    @Override
    public int write(ByteBuffer bytes) {
      byte[] some = new byte[random.nextInt(bytes.remaining() + 1)];
      bytes.get(some);
      taken.writeBytes(some);
      return some.length;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  /** Requests gather while a channel takes less, so that the buffer is replaced by greater ones. */
  @Test
  void shouldSendAllRequestsThatGather() throws IOException {
    SplittableRandom random = new SplittableRandom(41);
    RequestWriter request = new RequestWriter(0);
    FrameOutput output = new FrameOutput();
    SlowChannel channel = new SlowChannel(random);
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    for (int i = 0; i < REQUESTS; i++) {
      byte[] message = new byte[random.nextInt(BYTES_MAX)];
      random.nextBytes(message);
      request.call(i, 0, MemorySegment.ofArray(message), 0, message.length);
      request.send(Channels.newChannel(expected));
      output.add(request);
      assertThat(output.added()).isEqualTo(expected.size());
      if (random.nextInt(8) == 0) {
        output.send(channel);
        assertThat(output.sent()).isEqualTo(channel.taken.size());
      }
    }
    while (!output.isEmpty()) {
      output.send(channel);
    }
    assertThat(channel.taken.toByteArray()).isEqualTo(expected.toByteArray());
  }
}
