package pando.fabric.tcp;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import pando.fabric.StalledException;
import pando.fabric.wire.Frame;
import pando.fabric.wire.FrameException;
import pando.fabric.wire.RequestWriter;
import pando.fabric.wire.ResponseReader;
import pando.fabric.wire.Watchdog;

/** A fence, to be sent to one memory server after the other, by a connection for each. */
final class FenceRequest {
  /** Longer than a memory server waits for what it serves. */
  private static final long ANSWER_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

  private final int computeServer;
  private final long leastEpoch;
  private final Watchdog watchdog;
  private final RequestWriter request = new RequestWriter(0);
  private final ResponseReader response = new ResponseReader();

  FenceRequest(int computeServer, long leastEpoch, Watchdog watchdog) {
    this.computeServer = computeServer;
    this.leastEpoch = leastEpoch;
    this.watchdog = watchdog;
  }

  /**
   * Fences at a memory server.
   *
   * @throws IOException if it does not answer; it may have fenced or not
   * @throws StalledException if it refuses the epochs from now on, but serves something of them
   *     that does not end
   */
  void send(RemoteServer server) throws IOException {
    OwnPath path = new OwnPath(server, watchdog, request, response);
    request.fence(1, computeServer, leastEpoch);
    try {
      path.open();
      path.send(1, System.nanoTime() + ANSWER_NANOS_MAX);
      path.receive();
    } finally {
      path.cut();
    }
    checkResponse(server);
  }

  private void checkResponse(RemoteServer server) throws FrameException {
    if (!request.isAnsweredBy(response) || response.status() == Frame.REFUSED) {
      throw new FrameException(
          "not the answer to a fence: "
              + server
              + ", status="
              + response.status()
              + ", text="
              + response.text());
    }
    if (response.status() == Frame.BUSY) {
      throw new StalledException(
          "what is served of a compute server does not end: "
              + server
              + ", computeServer="
              + computeServer
              + ", leastEpoch="
              + leastEpoch);
    }
  }
}
