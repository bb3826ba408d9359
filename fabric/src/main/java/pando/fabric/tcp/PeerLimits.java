package pando.fabric.tcp;

import java.util.concurrent.TimeUnit;
import pando.fabric.base.Fences;

/**
 * What a memory server grants each client.
 *
 * @param helloNanos time for a whole HELLO
 * @param frameNanos time for the rest of a request, and to take a response
 * @param processorNanos longest wait for a processor for a CALL: less than a client waits for the
 *     response, so that it learns that nothing was done
 * @param fenceNanos longest wait of a fence for what is being served
 * @param connections most connections at a time
 */
record PeerLimits(
    long helloNanos, long frameNanos, long processorNanos, long fenceNanos, int connections) {
  static final PeerLimits DEFAULTS =
      new PeerLimits(
          TimeUnit.SECONDS.toNanos(3),
          TimeUnit.SECONDS.toNanos(10),
          TimeUnit.SECONDS.toNanos(50),
          Fences.WAIT_NANOS_MAX,
          TcpMemoryServer.CONNECTIONS_MAX);
}
