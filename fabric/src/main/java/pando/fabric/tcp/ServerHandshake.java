package pando.fabric.tcp;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.wire.Credentials;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.Reception;
import pando.fabric.wire.Role;
import pando.fabric.wire.TokenExchange;
import pando.fabric.wire.Watchdog;

/** How a memory server lets compute servers and admins in. Thread-safe. */
final class ServerHandshake extends Reception<ServedClient> {
  /**
   * Longest wait for what is served of older connections: less than a client has for all of this.
   */
  private static final long REPLACE_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final TcpMemoryServer owner;

  ServerHandshake(TcpMemoryServer owner, Credentials credentials) {
    super(
        Protocol.VERBS,
        credentials,
        "memory server " + owner.welcome().server(),
        owner.limits().helloNanos());
    this.owner = owner;
  }

  @Override
  protected boolean serves(Role role) {
    return role == Role.COMPUTE || role == Role.ADMIN;
  }

  @Override
  protected String served() {
    return "verbs are for compute servers, fences for admins";
  }

  @Override
  protected void answerFull(SocketChannel socket) throws IOException {
    Hello.answer(socket, owner.welcome().withStatus(Hello.FULL));
  }

  @Override
  protected @Nullable ServedClient admit(
      Watchdog.Watched connection, Hello.Request hello, @Nullable TokenExchange exchange)
      throws IOException {
    if (isFenced(hello)) {
      logRefused(connection, "fenced: " + hello.computeServer());
      answer(connection, Hello.FENCED, exchange);
      return null;
    }
    ServedClient client = new ServedClient(owner, hello, connection::close);
    boolean served = false;
    try {
      int status = admit(client);
      answer(connection, status, exchange);
      served = status == Hello.WELCOME;
    } finally {
      if (!served) {
        client.close();
      }
    }
    return served ? client : null;
  }

  private boolean isFenced(Hello.Request hello) {
    ComputeServer computeServer = hello.computeServer();
    return computeServer != null && owner.fences().isFenced(computeServer);
  }

  private int admit(ServedClient client) {
    if (!client.takePlace()) {
      return Hello.FULL;
    }
    // What came by older connections must not take effect once the client goes on.
    boolean replaced = owner.fences().replaceOlder(client.pass(), REPLACE_NANOS_MAX);
    return replaced ? Hello.WELCOME : Hello.OCCUPIED;
  }

  private void answer(Watchdog.Watched connection, int status, @Nullable TokenExchange exchange)
      throws IOException {
    Hello.answer(connection.channel(), owner.welcome().withStatus(status));
    if (exchange != null) {
      exchange.proveToClient();
    }
  }
}
