package pando.client.server;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import pando.fabric.wire.Credentials;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.Reception;
import pando.fabric.wire.Role;
import pando.fabric.wire.TokenExchange;
import pando.fabric.wire.Watchdog;

/** How a compute server lets clients in. Those that are let in have a place. Thread-safe. */
final class ServiceReception extends Reception<Hello.Request> {
  private final Semaphore places;

  ServiceReception(Credentials credentials, ServiceLimits limits, Semaphore places) {
    super(Protocol.OPERATIONS, credentials, "compute server", limits.helloNanos());
    this.places = places;
  }

  @Override
  protected boolean serves(Role role) {
    return role == Role.CLIENT || role == Role.COMPUTE;
  }

  @Override
  protected String served() {
    return "operations are for clients and compute servers";
  }

  @Override
  protected void answerFull(SocketChannel socket) throws IOException {
    Hello.answer(socket, Hello.FULL);
  }

  @Override
  protected Hello.@Nullable Request admit(
      Watchdog.Watched connection, Hello.Request hello, @Nullable TokenExchange exchange)
      throws IOException {
    boolean hasPlace = places.tryAcquire();
    boolean admitted = false;
    try {
      Hello.answer(connection.channel(), hasPlace ? Hello.WELCOME : Hello.FULL);
      if (exchange != null) {
        exchange.proveToClient();
      }
      admitted = hasPlace;
    } finally {
      if (hasPlace && !admitted) {
        places.release();
      }
    }
    return admitted ? hello : null;
  }
}
