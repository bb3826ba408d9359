package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.wire.CardAccess;

/**
 * A memory server's card, with which its DRAM and on-chip region are registered. Each client has a
 * queue pair, whose verbs the card serves. Thread-safe.
 */
final class MemoryCard implements CardAccess {
  /** Its queue pairs post nothing. */
  private static final int DEPTH = 1;

  private final SecureRandom packets = new SecureRandom();
  private final Device device;
  private final CompletionQueue none;
  private final Region region;

  /** Those of all clients. What they belong to must not be freed while one is left. */
  private final Set<QueuePair> queuePairs = new HashSet<>();

  private boolean isClosed;

  /**
   * Opens a card.
   *
   * @param memory that verbs may reach
   * @throws VerbsException if the card cannot be used, or refuses the memory
   */
  MemoryCard(String name, MemorySegment memory) {
    device = Device.open(name);
    try {
      none = new CompletionQueue(device, DEPTH);
      try {
        region = device.register(memory, IbvMr.ALL_ACCESS);
      } catch (RuntimeException | Error e) {
        none.close();
        throw e;
      }
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  @Override
  public Way open() {
    return new ClientWay();
  }

  private synchronized QueuePair newQueuePair() {
    if (isClosed) {
      throw new IllegalArgumentException("the memory server is closed");
    }
    QueuePair made = new QueuePair(device, none, DEPTH, packets.nextInt());
    queuePairs.add(made);
    return made;
  }

  private synchronized void close(QueuePair old) {
    if (queuePairs.remove(old)) {
      old.close();
    }
  }

  /** Also ends the ways that are open. */
  @Override
  public synchronized void close() {
    isClosed = true;
    queuePairs.forEach(QueuePair::close);
    queuePairs.clear();
    // In this order, and none if one before it failed: a card's parts must not outlive it.
    region.close();
    none.close();
    device.close();
  }

  /** The queue pair of a client, if it has asked for one. */
  private final class ClientWay implements Way {
    private @Nullable QueuePair queuePair;

    /** An empty request gives the queue pair up. */
    @Override
    public int serve(MemorySegment message, int requestBytes) {
      this.close();
      if (requestBytes == 0) {
        return 0;
      }
      if (requestBytes != Offer.REQUEST_BYTES) {
        throw new IllegalArgumentException(
            "no endpoint: bytes=" + requestBytes + ", expected=" + Offer.REQUEST_BYTES);
      }
      Endpoint client = Offer.endpoint(message);
      QueuePair made = newQueuePair();
      queuePair = made;
      try {
        made.connect(client);
      } catch (VerbsException e) {
        throw new IllegalArgumentException(e.getMessage(), e);
      }
      new Offer(made.endpoint(), region.address(), region.remoteKey()).write(message);
      return Offer.RESPONSE_BYTES;
    }

    @Override
    public void close() {
      QueuePair old = queuePair;
      queuePair = null;
      if (old != null) {
        MemoryCard.this.close(old);
      }
    }
  }
}
