package pando.fabric.verbs;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;

/**
 * The way to one memory server: a connection that is made over TCP when it is needed, and made anew
 * when it has broken. Thread-safe.
 */
final class Link implements AutoCloseable {
  private static final SecureRandom PACKETS = new SecureRandom();

  private final Device device;
  private final CompletionQueue completions;
  private final int depth;
  private final Fabric control;
  private final LostServers lost;
  private final int server;

  /** Is held while a connection is made, which waits for the memory server; guards what follows. */
  private final ReentrantLock opening = new ReentrantLock();

  private @Nullable Worker asker;

  /** Gives back what belongs to the worker that asks, what was made last first. */
  private final List<Runnable> ends = new ArrayList<>();

  private final Renewals renewals;
  private boolean hasConnected;
  private boolean closed;

  private final AtomicReference<@Nullable CardConnection> current = new AtomicReference<>();

  /**
   * Creates it, not connected.
   *
   * @param completions of its verbs
   * @param depth verbs under way, at most
   * @param control by which it is connected
   * @param lost of all workers of the fabric
   */
  Link(
      Device device,
      CompletionQueue completions,
      int depth,
      Fabric control,
      LostServers lost,
      int server) {
    this.device = device;
    this.completions = completions;
    this.depth = depth;
    this.control = control;
    this.lost = lost;
    this.server = server;
    this.renewals = new Renewals(server);
  }

  /**
   * Connects, unless it is connected. What an older queue pair has sent takes no effect any more.
   *
   * @throws VerbsException if the memory server has no card, or the cards cannot be connected
   * @throws pando.fabric.StalledException if the memory server does not answer, or queue pairs to
   *     it have broken too often of late
   * @throws pando.fabric.FencedException if this compute server is fenced
   * @throws pando.fabric.MemoryServerLostException if the memory server is lost
   */
  CardConnection open() {
    lost.check(server);
    CardConnection open = current.get();
    if (open != null) {
      return open;
    }
    opening.lock();
    try {
      if (closed) {
        throw new IllegalStateException("closed: memory server=" + server);
      }
      open = current.get();
      if (open == null) {
        open = connect();
        current.set(open);
      }
      return open;
    } finally {
      opening.unlock();
    }
  }

  private CardConnection connect() {
    Worker worker = asker();
    QueuePair made = new QueuePair(device, completions, depth, PACKETS.nextInt());
    boolean connected = false;
    try {
      Offer offer = Asking.ask(worker, server, made.endpoint());
      if (hasConnected) {
        // Only now: a memory server that is lost, or has fenced this one, says so first.
        renewals.count(worker.nanoTime());
      }
      made.connect(offer.endpoint());
      connected = true;
      hasConnected = true;
      return new CardConnection(made, offer, server, control.dramBytes(server));
    } catch (MemoryServerLostException e) {
      lost.add(server, e);
      throw e;
    } finally {
      if (!connected) {
        made.close();
      }
    }
  }

  /** Returns the worker of the connection by TCP, by whose end the memory server knows of ours. */
  private Worker asker() {
    Worker worker = asker;
    if (worker == null) {
      RegisteredMemory memory = control.register(Worker.CALL_BYTES_MAX);
      ends.addFirst(memory::close);
      worker = control.worker(memory);
      ends.addFirst(worker::close);
      asker = worker;
    }
    return worker;
  }

  /** Gives a connection up, which the caller closes; the next verbs are sent by another one. */
  void giveUp(CardConnection broken) {
    current.compareAndSet(broken, null);
  }

  /** Nothing is under way by it any more. */
  @Override
  public void close() {
    opening.lock();
    try {
      closed = true;
      CardConnection open = current.getAndSet(null);
      if (open != null) {
        open.close();
      }
      Closing.all(ends);
    } finally {
      opening.unlock();
    }
  }
}
