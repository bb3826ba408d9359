package pando.client.server;

import java.util.concurrent.TimeUnit;

/**
 * What a compute server grants each client.
 *
 * @param connections most at a time
 * @param helloNanos time to say who it is
 * @param idleNanos longest silence
 * @param frameNanos time for the rest of a request, and to take answers
 * @param goodbyeNanos time to end a connection after a goodbye
 * @param longBytes most bytes of long requests of a lane, and as many of long responses
 */
record ServiceLimits(
    int connections,
    long helloNanos,
    long idleNanos,
    long frameNanos,
    long goodbyeNanos,
    long longBytes) {
  static final int CONNECTIONS_MAX = 10_000;

  static final ServiceLimits DEFAULTS =
      new ServiceLimits(
          CONNECTIONS_MAX,
          TimeUnit.SECONDS.toNanos(3),
          TimeUnit.MINUTES.toNanos(10),
          TimeUnit.SECONDS.toNanos(10),
          TimeUnit.SECONDS.toNanos(1),
          8 << 20);
}
