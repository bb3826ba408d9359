package pando.fabric.verbs;

import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvMr;

/**
 * Two queue pairs of one card that are connected to each other, made anew when they have broken.
 */
final class Loopback implements CardTrial.Way, AutoCloseable {
  static final int DEPTH = 64;

  private final Device device;
  private final Exchange exchange;
  private @Nullable QueuePair client;
  private @Nullable QueuePair server;

  /** Connects them. */
  Loopback(Device device) {
    this.device = device;
    this.exchange = new Exchange(device, 2 * DEPTH);
    try {
      connect();
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * Returns which masked atomics a card is seen to do by raw requests.
   *
   * @param line 64 bytes, at a multiple of as many
   */
  static Atomics masked(Device device, Offer.Place line) {
    if (!device.hasRawRequests()) {
      return Atomics.NONE;
    }
    device.useRawRequests(true);
    try (Loopback loopback = new Loopback(device)) {
      return CardTrial.on(device, loopback, line, CardTrial::masked);
    } catch (VerbsException noSuchQueuePair) {
      return Atomics.NONE;
    } finally {
      device.useRawRequests(false);
    }
  }

  /** Returns which masked atomics a card is seen to do on memory of this machine. */
  static Atomics masked(Device device) {
    try (NativeMemory memory = NativeMemory.allocate(Offer.SCRATCH_BYTES);
        Region line = device.register(memory.segment(), IbvMr.ALL_ACCESS)) {
      return masked(device, line.place());
    }
  }

  /** Returns the one by which verbs go. */
  QueuePair client() {
    QueuePair open = client;
    return open == null ? connect() : open;
  }

  private QueuePair connect() {
    QueuePair one = new QueuePair(device, exchange.completions(), DEPTH, 1);
    client = one;
    QueuePair other = new QueuePair(device, exchange.completions(), DEPTH, 2);
    server = other;
    one.connect(other.endpoint());
    other.connect(one.endpoint());
    return one;
  }

  @Override
  public Status run(WorkRequests requests) {
    Status status = exchange.run(client(), requests);
    if (status != Status.SUCCESS) {
      disconnect();
    }
    return status;
  }

  /** Returns how many completions the last verbs have made, as far as they were seen. */
  int completed() {
    return exchange.completed();
  }

  private void disconnect() {
    QueuePair one = client;
    QueuePair other = server;
    client = null;
    server = null;
    Closing.all(() -> close(one), () -> close(other));
  }

  private static void close(@Nullable QueuePair open) {
    if (open != null) {
      open.close();
    }
  }

  /** In this order, and none if one before it failed: what the card still uses is not freed. */
  @Override
  public void close() {
    disconnect();
    exchange.close();
  }
}
