package pando.fabric.tcp;

import java.util.concurrent.TimeUnit;

/**
 * What a memory server grants those who connect.
 *
 * @param helloNanos time for a whole HELLO
 * @param frameNanos time for the rest of a request, and to take a response
 * @param connections most connections at a time
 */
record PeerLimits(long helloNanos, long frameNanos, int connections) {
  static final PeerLimits DEFAULTS =
      new PeerLimits(
          TimeUnit.SECONDS.toNanos(3),
          TimeUnit.SECONDS.toNanos(10),
          TcpMemoryServer.CONNECTIONS_MAX);
}
