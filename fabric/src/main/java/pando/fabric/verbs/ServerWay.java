package pando.fabric.verbs;

import org.jspecify.annotations.Nullable;
import pando.fabric.Worker;

/** A queue pair to a memory server, to try what the cards can do; made anew when it has broken. */
final class ServerWay implements CardTrial.Way, AutoCloseable {
  private static final int DEPTH = 8;

  private final Device device;
  private final Worker asker;
  private final int server;
  private final Exchange exchange;
  private @Nullable Connected current;

  private record Connected(QueuePair queuePair, Offer offer) {}

  /**
   * Creates it, not connected.
   *
   * @param asker by which it is connected
   */
  ServerWay(Device device, Worker asker, int server) {
    this.device = device;
    this.asker = asker;
    this.server = server;
    this.exchange = new Exchange(device, 2 * DEPTH);
  }

  /** Connects, unless it is connected, and returns what the memory server offers. */
  Offer offer() {
    return connected().offer;
  }

  private Connected connected() {
    Connected open = current;
    if (open == null) {
      open = connect();
      current = open;
    }
    return open;
  }

  private Connected connect() {
    QueuePair made = new QueuePair(device, exchange.completions(), DEPTH, 1);
    boolean connected = false;
    try {
      Offer offer = Asking.ask(asker, server, made.endpoint());
      made.connect(offer.endpoint());
      connected = true;
      return new Connected(made, offer);
    } finally {
      if (!connected) {
        made.close();
      }
    }
  }

  @Override
  public Status run(WorkRequests requests) {
    Status status = exchange.run(connected().queuePair, requests);
    if (status != Status.SUCCESS) {
      disconnect();
    }
    return status;
  }

  private void disconnect() {
    Connected old = current;
    current = null;
    if (old != null) {
      old.queuePair.close();
    }
  }

  /** In this order, and none if one before it failed: what the card still uses is not freed. */
  @Override
  public void close() {
    disconnect();
    exchange.close();
  }
}
