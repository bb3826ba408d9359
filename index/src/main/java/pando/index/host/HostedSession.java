package pando.index.host;

import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.index.IndexOptions;
import pando.index.Lease;
import pando.index.Partitioning;
import pando.index.bugs.PlantedBug;
import pando.index.pool.PoolChange;
import pando.index.session.RoutedSession;

/**
 * A session that sends each operation to one compute server, or, with partitions, to the one that
 * owns the key.
 *
 * @param <W> its operations at one compute server
 */
public abstract class HostedSession<W extends GatedWorker> extends RoutedSession<W> {
  /** In place of a compute server's number: that of the key's owner. */
  public static final int NO_HOME = -1;

  private static final int ATTEMPTS_MAX = 1_000;

  private final HostedIndex<?, W> index;
  private final int home;

  /**
   * Creates a session without workers.
   *
   * @param home the compute server to which all operations go, {@link #NO_HOME} for a key's owner
   * @param lease while which it answers, {@code null} for always
   */
  protected HostedSession(HostedIndex<?, W> index, int home, @Nullable Lease lease) {
    super(IndexOptions.COMPUTE_SERVERS_MAX, lease);
    this.index = index;
    this.home = home;
  }

  @Override
  protected double estimateSize(long low) {
    W worker = enter(low);
    try {
      return worker.sizeOf(low, worker.server().high());
    } finally {
      worker.exit();
    }
  }

  @Override
  protected long highOfRange(long wanted) {
    Partitioning partitioning = index.partitioning();
    return home != NO_HOME
        ? Long.MAX_VALUE
        : partitioning.highOfRange(partitioning.rangeOfKey(wanted));
  }

  @Override
  protected void runAlone(Runnable action) {
    index.checkSoleChanger();
    for (int server = 0; server < IndexOptions.COMPUTE_SERVERS_MAX; server++) {
      W worker = opened(server);
      if (worker != null) {
        index.alone(worker.worker(), action);
        return;
      }
    }
    // Maybe none lives here any more; others are kept out all the same.
    checkIndexOpen();
    try (PoolChange change = index.opened()) {
      index.alone(change.worker(), action);
    }
  }

  /**
   * Begins an operation with the worker that serves a key. Ranges do not change until the operation
   * ends.
   */
  protected final W enter(long wanted) {
    for (int attempt = 0; ; attempt++) {
      Partitioning seen = index.partitioning();
      int server = home != NO_HOME ? home : seen.ownerOfKey(wanted);
      W worker = opened(server);
      if (worker != null) {
        worker.enter();
        if (worker.server().owns(wanted) || PlantedBug.OWNER_UNCHECKED) {
          return worker;
        }
        worker.exit();
      }
      seek(seen, wanted, server, attempt);
    }
  }

  /**
   * Returns the worker that serves a key, {@code null} if none here does. Inside the gate, so
   * ranges stay as they are; and no worker is closed, as that enters it, too.
   */
  final @Nullable W ownerHere(long key) {
    int server = home != NO_HOME ? home : index.partitioning().ownerOfKey(key);
    W worker = opened(server);
    worker = worker == null ? open(server) : worker;
    return worker != null && worker.server().owns(key) ? worker : null;
  }

  /**
   * Opens a worker of a key's owner if it has none that can be used; else waits for another one.
   */
  private void seek(Partitioning seen, long wanted, int server, int attempt) {
    W worker = opened(server);
    boolean usable = worker != null && !worker.server().isRetired();
    if (!usable && open(server) != null) {
      return;
    }
    if (attempt >= ATTEMPTS_MAX) {
      throw new StalledException(
          "the partitions kept changing: key=" + wanted + ", attempts=" + attempt);
    }
    index.changes().awaitOwner(seen, String.valueOf(wanted), server, usable, attempt);
  }

  /** Opens a worker of a compute server; returns {@code null} if that is not in this process. */
  final @Nullable W open(int server) {
    // Closes the one of a compute server that was taken out, as their number is limited.
    setWorker(server, null);
    setWorker(server, index.openWorker(server));
    return opened(server);
  }

  @Override
  protected void checkIndexOpen() {
    index.members.checkOpen();
  }

  @Override
  protected void retire(W worker) {
    index.members.retire(worker);
  }
}
