package pando.cli.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;
import pando.client.ClientSession;
import pando.client.PandoClient;

/** The clients of a campaign: each has a connection and keys of its own. */
final class CheckingClients implements AutoCloseable {
  private static final int KEYS = 24_000;
  private static final int CLIENTS = 4;

  private final Losses losses;
  private final Tally tally;
  private final boolean removes;
  private final long pauseNanos;
  private final SplittableRandom random;
  private final ReentrantReadWriteLock running = new ReentrantReadWriteLock(true);
  private final List<PandoClient> connections = new ArrayList<>();
  private final List<CheckingClient> clients = new ArrayList<>();

  /**
   * Creates none.
   *
   * @param tally receives what is counted
   * @param removes whether they remove keys and insert them again, which changes the tree
   * @param pauseNanos of each, between two operations
   */
  CheckingClients(
      Losses losses, Tally tally, boolean removes, long pauseNanos, SplittableRandom random) {
    this.losses = losses;
    this.tally = tally;
    this.removes = removes;
    this.pauseNanos = pauseNanos;
    this.random = random;
  }

  /** Connects the clients, each of which stores a first value under its keys. */
  void load(Supplier<PandoClient> connect) {
    for (int i = 0; i < CLIENTS; i++) {
      connections.add(connect.get());
      List<KeyHistory> keys =
          random.longs(KEYS / CLIENTS).distinct().mapToObj(KeyHistory::new).toList();
      CheckingClient client =
          new CheckingClient(
              connections.getLast(),
              keys,
              losses,
              tally,
              running.readLock(),
              removes,
              pauseNanos,
              random.split());
      client.load();
      clients.add(client);
    }
  }

  /** Has them begin; all that was loaded is in the pool. */
  void start() {
    clients.forEach(CheckingClient::loadIsInPool);
    clients.forEach(CheckingClient::start);
  }

  /** Has each read all of its keys, while no other operation is under way. */
  void readAll() {
    running.writeLock().lock();
    try {
      clients.forEach(CheckingClient::readAll);
    } finally {
      running.writeLock().unlock();
    }
  }

  /** As {@link #readAll}, as the last thing that they do; returns how many keys were answered. */
  long readAllAndStop() {
    running.writeLock().lock();
    try {
      long answers = tally.answers();
      clients.forEach(CheckingClient::readAll);
      clients.forEach(CheckingClient::stop);
      return tally.answers() - answers;
    } finally {
      running.writeLock().unlock();
    }
  }

  /** Loads all keys into another index, and reads them there. */
  void loadInto(PandoClient another) {
    clients.forEach(client -> client.loadInto(another));
  }

  /** Reads a key, which waits until it is served. */
  void probe(long key) {
    try (ClientSession session = connections.getFirst().session()) {
      session.get(key);
    }
  }

  /** Says whether a change is under way. */
  void setInChange(boolean isUnderWay) {
    clients.forEach(client -> client.setInChange(isUnderWay));
  }

  /** Returns how long operations took that ended since this was asked for before, in us. */
  Histogram takeWaits() {
    Histogram waits = new Histogram(3);
    clients.forEach(client -> waits.add(client.takeWaits()));
    return waits;
  }

  /** As {@link #takeWaits}, of those alone that were under way during a change. */
  Histogram takeWaitsInChanges() {
    Histogram waits = new Histogram(3);
    clients.forEach(client -> waits.add(client.takeWaitsInChanges()));
    return waits;
  }

  @Override
  public void close() {
    clients.forEach(CheckingClient::close);
    connections.forEach(PandoClient::close);
  }
}
