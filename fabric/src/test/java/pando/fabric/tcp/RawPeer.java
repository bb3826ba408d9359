package pando.fabric.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.wire.AuthenticationKind;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.Role;

/** A peer of a memory server that speaks the protocol by hand, without authentication. */
final class RawPeer {
  private RawPeer() {}

  /** Connects, and is welcome. */
  static SocketChannel connect(
      TcpMemoryServer server, Role role, @Nullable ComputeServer name, long way)
      throws IOException {
    SocketChannel channel = SocketChannel.open(server.address());
    assertThat(greet(channel, role, name, way).status()).isEqualTo(Hello.WELCOME);
    return channel;
  }

  /** Says HELLO, and returns the answer. */
  static Hello.Welcome greet(
      SocketChannel channel, Role role, @Nullable ComputeServer name, long way) throws IOException {
    Hello.send(channel, Protocol.VERBS, AuthenticationKind.NONE, role, name, way);
    return Hello.receiveAnswer(channel, Protocol.VERBS);
  }

  /** Waits until the memory server ends the connection, without a further byte. */
  static void assertEnded(SocketChannel channel) {
    int read;
    try {
      read = channel.read(ByteBuffer.allocate(1));
    } catch (IOException reset) {
      read = -1;
    }
    assertThat(read).isEqualTo(-1);
  }
}
