package pando.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import org.junit.jupiter.api.Test;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;

/** HELLO and its answer, byte by byte. */
class HelloTest {
  private static final int VERSION_END = 10;
  private static final Hello.Welcome WELCOME =
      new Hello.Welcome(Hello.VERSION, Hello.WELCOME, 3, -7, Fabric.CATALOGUE_BYTES, true);

  @Test
  void shouldReadWhatWasSaid() throws IOException {
    for (AuthenticationKind kind : AuthenticationKind.values()) {
      for (Role role : Role.values()) {
        assertThat(Hello.receive(channel(hello(kind, role)), Protocol.VERBS))
            .isEqualTo(new Hello.Request(Hello.VERSION, kind, role, null, 0));
      }
    }
    for (int status : new int[] {Hello.WELCOME, Hello.FULL, Hello.FENCED, Hello.OCCUPIED}) {
      Hello.Welcome welcome = WELCOME.withStatus(status);
      assertThat(Hello.receiveAnswer(channel(answer(welcome)), Protocol.VERBS)).isEqualTo(welcome);
    }
  }

  @Test
  void shouldReadWhyAClientIsNotLetIn() throws IOException {
    for (int status : new int[] {Hello.OTHER_VERSION, Hello.PROVE}) {
      byte[] answer = refusal(status);
      assertThat(Hello.receiveAnswer(channel(answer), Protocol.VERBS).status()).isEqualTo(status);
    }
    int[] refusals = {Hello.OTHER_AUTHENTICATION, Hello.NOT_ALLOWED, Hello.WRONG_SECRET};
    for (int status : refusals) {
      byte[] answer = refusal(status);
      assertThatThrownBy(() -> Hello.receiveAnswer(channel(answer), Protocol.VERBS))
          .isInstanceOfSatisfying(
              RefusedException.class, e -> assertThat(e.status()).isEqualTo(status));
      byte[] changed = with(answer, 12, 1);
      assertRefused(
          () -> Hello.receiveAnswer(channel(changed), Protocol.VERBS), "must be 0: offset=12");
      byte[] unknown = with(answer, 11, 3);
      assertRefused(
          () -> Hello.receiveAnswer(channel(unknown), Protocol.VERBS),
          "unknown authentication: code=3");
    }
  }

  @Test
  void shouldReadNamesOfComputeServersInTheirRanges() throws IOException {
    for (int number : new int[] {0, 1, ComputeServer.NUMBER_MAX}) {
      for (long epoch : new long[] {1, 1L << 33, ComputeServer.EPOCH_MAX}) {
        ComputeServer name = new ComputeServer(number, epoch);
        byte[] hello = hello(Role.COMPUTE, name);
        assertThat(Hello.receive(channel(hello), Protocol.VERBS).computeServer()).isEqualTo(name);
        assertRefused(
            () -> Hello.receive(channel(with(hello, 15, 4)), Protocol.VERBS), "no compute server");
        assertRefused(
            () -> Hello.receive(channel(with(hello, 23, 0x80)), Protocol.VERBS),
            "no compute server");
        for (Role role : new Role[] {Role.ADMIN, Role.CLIENT, Role.MEMORY}) {
          byte[] other = hello(role, name);
          assertRefused(
              () -> Hello.receive(channel(other), Protocol.VERBS),
              "no compute server has this name: role=" + role);
        }
      }
    }
    byte[] withoutEpoch = with(hello(), 14, 1);
    assertRefused(() -> Hello.receive(channel(withoutEpoch), Protocol.VERBS), "number=1, epoch=0");
  }

  private static byte[] hello(Role role, ComputeServer name) {
    return bytes(out ->
        Hello.send(
            Channels.newChannel(out), Protocol.VERBS, AuthenticationKind.NONE, role, name, 0));
  }

  @Test
  void shouldReadWaysOfComputeServersAlone() throws IOException {
    for (long way : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertThat(Hello.receive(channel(hello(Role.COMPUTE, way)), Protocol.VERBS).way())
          .isEqualTo(way);
      for (Role role : new Role[] {Role.ADMIN, Role.CLIENT, Role.MEMORY}) {
        byte[] other = hello(role, way);
        if (way == 0) {
          assertThat(Hello.receive(channel(other), Protocol.VERBS).way()).isZero();
        } else {
          assertRefused(
              () -> Hello.receive(channel(other), Protocol.VERBS),
              "ways: role=" + role + ", way=" + way);
        }
      }
    }
  }

  private static byte[] hello(Role role, long way) {
    return bytes(out ->
        Hello.send(
            Channels.newChannel(out), Protocol.VERBS, AuthenticationKind.NONE, role, null, way));
  }

  @Test
  void shouldReadAnUnknownRoleAsNone() throws IOException {
    for (int code : new int[] {0, 5, -1}) {
      assertThat(Hello.receive(channel(with(hello(), 12, code)), Protocol.VERBS).role()).isNull();
    }
  }

  @Test
  void shouldTakeOtherVersionsWhateverElseTheySay() throws IOException {
    for (int offset = 8; offset < Hello.BYTES; offset++) {
      byte[] hello = with(hello(), 8, 2);
      assertThat(Hello.receive(channel(with(hello, offset, 2)), Protocol.VERBS).version())
          .isNotEqualTo(Hello.VERSION);
      byte[] answer = with(answer(WELCOME), 8, 2);
      Hello.Welcome welcome = Hello.receiveAnswer(channel(with(answer, offset, 2)), Protocol.VERBS);
      assertThat(welcome.version()).isNotEqualTo(Hello.VERSION);
    }
  }

  @Test
  void shouldRefuseBytesThatMustBeZero() {
    for (int offset = VERSION_END; offset < Hello.BYTES; offset++) {
      boolean isNameOrWay = offset >= 14 && offset < 32;
      if (offset != 11 && offset != 12 && !isNameOrWay) {
        byte[] hello = with(hello(), offset, 1);
        assertRefused(
            () -> Hello.receive(channel(hello), Protocol.VERBS), "must be 0: offset=" + offset);
      }
    }
    for (int offset = 37; offset < Hello.BYTES; offset++) {
      byte[] answer = with(answer(WELCOME), offset, -1);
      assertRefused(
          () -> Hello.receiveAnswer(channel(answer), Protocol.VERBS),
          "must be 0: offset=" + offset);
    }
    byte[] answer = with(answer(WELCOME), 11, 1);
    assertRefused(
        () -> Hello.receiveAnswer(channel(answer), Protocol.VERBS), "must be 0: offset=11");
  }

  @Test
  void shouldRefuseAnswersOutsideTheirRanges() {
    assertRefused(refusal(9));
    assertRefused(refusal(-1));
    assertRefused(with(answer(WELCOME), 32, 1));
    assertRefused(with(answer(WELCOME), 34, 5));
    assertRefused(with(answer(WELCOME), 36, 2));
    assertRefused(with(answer(WELCOME), 36, -1));
    long tooLittle = Fabric.CATALOGUE_BYTES - 1;
    assertRefused(answer(new Hello.Welcome(Hello.VERSION, Hello.WELCOME, 3, 1, tooLittle, true)));
    assertRefused(answer(new Hello.Welcome(Hello.VERSION, Hello.WELCOME, 3, 1, -1, true)));
  }

  private static void assertRefused(byte[] answer) {
    assertRefused(
        () -> Hello.receiveAnswer(channel(answer), Protocol.VERBS),
        "no memory server is like this");
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
    return hello(AuthenticationKind.NONE, Role.COMPUTE);
  }

  private static byte[] hello(AuthenticationKind kind, Role role) {
    return bytes(out -> Hello.send(Channels.newChannel(out), Protocol.VERBS, kind, role, null, 0));
  }

  private static byte[] refusal(int status) {
    return bytes(out ->
        Hello.refuse(Channels.newChannel(out), Protocol.VERBS, status, AuthenticationKind.TOKEN));
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
