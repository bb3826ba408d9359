package pando.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;

/** HELLO and its answer, byte by byte. */
class HelloTest {
  private static final int VERSION_END = 10;
  private static final Hello.Welcome WELCOME =
      new Hello.Welcome(Hello.VERSION, Hello.WELCOME, 3, -7, Fabric.CATALOGUE_BYTES, true);

  @Test
  void shouldReadWhatWasSaid() throws IOException {
    assertThat(Hello.receive(channel(hello()))).isEqualTo(Hello.VERSION);
    for (int status : new int[] {Hello.WELCOME, Hello.OTHER_VERSION, Hello.FULL}) {
      Hello.Welcome welcome = WELCOME.withStatus(status);
      assertThat(Hello.receiveAnswer(channel(answer(welcome)))).isEqualTo(welcome);
    }
  }

  @Test
  void shouldTakeOtherVersionsWhateverElseTheySay() throws IOException {
    for (int offset = 8; offset < Hello.BYTES; offset++) {
      byte[] hello = with(hello(), 8, 2);
      assertThat(Hello.receive(channel(with(hello, offset, 2)))).isNotEqualTo(Hello.VERSION);
      byte[] answer = with(answer(WELCOME), 8, 2);
      Hello.Welcome welcome = Hello.receiveAnswer(channel(with(answer, offset, 2)));
      assertThat(welcome.version()).isNotEqualTo(Hello.VERSION);
    }
  }

  @Test
  void shouldRefuseBytesThatMustBeZero() {
    for (int offset = VERSION_END; offset < Hello.BYTES; offset++) {
      byte[] hello = with(hello(), offset, 1);
      assertRefused(() -> Hello.receive(channel(hello)), "must be 0: offset=" + offset);
    }
    for (int offset = 37; offset < Hello.BYTES; offset++) {
      byte[] answer = with(answer(WELCOME), offset, -1);
      assertRefused(() -> Hello.receiveAnswer(channel(answer)), "must be 0: offset=" + offset);
    }
    byte[] answer = with(answer(WELCOME), 11, 1);
    assertRefused(() -> Hello.receiveAnswer(channel(answer)), "must be 0: offset=11");
  }

  @Test
  void shouldRefuseAnswersOutsideTheirRanges() {
    assertRefused(answer(WELCOME.withStatus(3)));
    assertRefused(answer(WELCOME.withStatus(-1)));
    assertRefused(with(answer(WELCOME), 32, 1));
    assertRefused(with(answer(WELCOME), 36, 2));
    assertRefused(with(answer(WELCOME), 36, -1));
    long tooLittle = Fabric.CATALOGUE_BYTES - 1;
    assertRefused(answer(new Hello.Welcome(Hello.VERSION, Hello.WELCOME, 3, 1, tooLittle, true)));
    assertRefused(answer(new Hello.Welcome(Hello.VERSION, Hello.WELCOME, 3, 1, -1, true)));
  }

  private static void assertRefused(byte[] answer) {
    assertRefused(() -> Hello.receiveAnswer(channel(answer)), "no memory server is like this");
  }

  private interface Reading {
    Object run() throws IOException;
  }

  private static void assertRefused(Reading reading, String because) {
    assertThatThrownBy(reading::run)
        .isInstanceOf(FrameException.class)
        .hasMessageContaining(because);
  }

  private static byte[] hello() {
    return bytes(out -> Hello.send(Channels.newChannel(out)));
  }

  private static byte[] answer(Hello.Welcome welcome) {
    return bytes(out -> Hello.answer(Channels.newChannel(out), welcome));
  }

  private interface Writing {
    void run(ByteArrayOutputStream out) throws IOException;
  }

  private static byte[] bytes(Writing writing) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      writing.run(out);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return out.toByteArray();
  }

  private static byte[] with(byte[] message, int offset, int value) {
    byte[] changed = message.clone();
    changed[offset] = (byte) value;
    return changed;
  }

  private static ReadableByteChannel channel(byte[] message) {
    return Channels.newChannel(new ByteArrayInputStream(message));
  }
}
