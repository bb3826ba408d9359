package pando.cli.cluster;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import pando.cli.WrongResultException;
import pando.client.ClientBatch;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;

/**
 * A client that reads and changes keys of its own, and checks all that it is answered: also what
 * each change says was there before.
 */
final class CheckingClient implements AutoCloseable {
  private static final int BATCH = 1_000;
  private static final int HOT = 200;
  private static final int MAX_SECONDS = 200;

  private final PandoClient client;
  private final List<KeyHistory> keys;
  private final Losses losses;
  private final Tally tally;
  private final Lock running;
  private final boolean removes;
  private final long pauseNanos;
  private final SplittableRandom random;
  private final Histogram waits = new Histogram(MAX_SECONDS * 1_000_000L, 3);
  private final Thread thread;
  private final Histogram waitsInChanges = new Histogram(MAX_SECONDS * 1_000_000L, 3);
  private volatile boolean inChange;
  private volatile boolean closed;

  /**
   * Creates a client.
   *
   * @param keys that no other client uses
   * @param losses of compute servers
   * @param tally receives what it counts
   * @param running is held during each operation
   * @param removes whether it removes keys, which inserts them again
   * @param pauseNanos between two operations
   */
  CheckingClient(
      PandoClient client,
      List<KeyHistory> keys,
      Losses losses,
      Tally tally,
      Lock running,
      boolean removes,
      long pauseNanos,
      SplittableRandom random) {
    this.client = client;
    this.keys = keys;
    this.losses = losses;
    this.tally = tally;
    this.running = running;
    this.removes = removes;
    this.pauseNanos = pauseNanos;
    this.random = random;
    this.thread = Thread.ofPlatform().name("checking-client").unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  private void run() {
    try (ClientSession session = client.session()) {
      while (!closed) {
        running.lock();
        try {
          if (closed) {
            return;
          }
          boolean beganInChange = inChange;
          long start = System.nanoTime();
          operate(session);
          record(System.nanoTime() - start, beganInChange || inChange);
        } finally {
          running.unlock();
        }
        LockSupport.parkNanos(pauseNanos);
      }
    } catch (RuntimeException | Error e) {
      tally.wrong("a client has ended: " + e);
      throw e;
    }
  }

  private synchronized void record(long nanos, boolean whileChanging) {
    waits.recordValue(nanos / 1_000);
    if (whileChanging) {
      waitsInChanges.recordValue(nanos / 1_000);
    }
  }

  /** Says whether a change is under way. */
  void setInChange(boolean isUnderWay) {
    inChange = isUnderWay;
  }

  /** Returns how long operations took that ended since this was asked for before, in us. */
  synchronized Histogram takeWaits() {
    return taken(waits);
  }

  /** As {@link #takeWaits}, of those alone that were under way during a change. */
  synchronized Histogram takeWaitsInChanges() {
    return taken(waitsInChanges);
  }

  private static Histogram taken(Histogram from) {
    Histogram taken = from.copy();
    from.reset();
    return taken;
  }

  private void operate(ClientSession session) {
    int place = random.nextInt(3) > 0 ? random.nextInt(HOT) : random.nextInt(keys.size());
    KeyHistory history = keys.get(place);
    int kind = random.nextInt(20);
    if (kind < 10) {
      read(session, history);
    } else if (kind < 18 || !removes) {
      int version = history.next();
      change(session, history, version, version);
    } else {
      change(session, history, 0, -history.next());
    }
  }

  private void read(ClientSession session, KeyHistory history) {
    int certain = losses.certain();
    try {
      check(history, session.get(history.key()), session.value(), certain);
    } catch (PandoException e) {
      tally.failed(e);
    }
  }

  /** Stores a value, or removes the key where the version is negative. */
  private void change(ClientSession session, KeyHistory history, int stored, int version) {
    int certain = losses.certain();
    long key = history.key();
    try {
      boolean wasThere = version > 0 ? session.put(key, value(key, stored)) : session.remove(key);
      check(history, wasThere, session.value(), certain);
      history.acknowledged(version);
    } catch (UnknownOutcomeException e) {
      tally.unknown();
      history.unknown(version);
    } catch (PandoException e) {
      tally.failed(e);
    }
  }

  private void check(KeyHistory history, boolean isThere, long value, int certain) {
    try {
      int lost = history.found(isThere ? version(history, value) : 0, losses, certain);
      tally.answered();
      if (lost > 0) {
        tally.lost(lost, history.lostNanos());
      }
    } catch (WrongResultException e) {
      tally.wrong(String.valueOf(e.getMessage()));
    }
  }

  /** A value has half of its key, and a version. */
  private static long value(long key, int version) {
    return key >>> Integer.SIZE << Integer.SIZE | version;
  }

  private static int version(KeyHistory history, long value) {
    if (value >>> Integer.SIZE != history.key() >>> Integer.SIZE) {
      throw new WrongResultException("another key's value: value=%x, %s".formatted(value, history));
    }
    return (int) value;
  }

  /** Stores a first value under each key; no thread runs. */
  void load() {
    ClientBatch batch = client.batch();
    for (int from = 0; from < keys.size(); from += BATCH) {
      List<KeyHistory> some = keys.subList(from, Math.min(keys.size(), from + BATCH));
      for (KeyHistory history : some) {
        int version = history.next();
        batch.put(history.key(), value(history.key(), version));
        history.acknowledged(version);
      }
      batch.runAndClear();
    }
  }

  /** Takes that the load was written back, so no loss takes it back; no thread runs. */
  void loadIsInPool() {
    keys.forEach(KeyHistory::keepStateAlone);
  }

  /** Reads all keys; no operation is under way. */
  void readAll() {
    ClientBatch batch = client.batch();
    for (int from = 0; from < keys.size(); from += BATCH) {
      List<KeyHistory> some = keys.subList(from, Math.min(keys.size(), from + BATCH));
      int certain = losses.certain();
      some.forEach(history -> batch.get(history.key()));
      batch.run();
      for (int i = 0; i < some.size(); i++) {
        try {
          check(some.get(i), batch.result(i), batch.value(i), certain);
          some.get(i).settle();
        } catch (PandoException e) {
          tally.failed(e);
        }
      }
      batch.clear();
    }
  }

  /** Loads all keys into another cluster, and reads them there; no operation is under way. */
  void loadInto(PandoClient another) {
    List<KeyHistory> anew = keys.stream().map(history -> new KeyHistory(history.key())).toList();
    CheckingClient loading =
        new CheckingClient(
            another,
            anew,
            new Losses(_ -> {}, Duration.ZERO),
            tally,
            running,
            removes,
            pauseNanos,
            random.split());
    loading.load();
    loading.readAll();
  }

  /** Has it carry out no further operation; returns at once. */
  void stop() {
    closed = true;
  }

  @Override
  public void close() {
    stop();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
