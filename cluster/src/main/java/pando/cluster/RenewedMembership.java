package pando.cluster;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A session with the coordinator, and another one in its place once it has ended: so those that use
 * it keep what they have. Thread-safe; one thread renews it.
 */
final class RenewedMembership implements Membership {
  private final Supplier<Membership> sessions;
  private final List<Runnable> watchers = new CopyOnWriteArrayList<>();
  private volatile Membership session;
  private boolean closed;

  /**
   * Opens a session.
   *
   * @param sessions opens one
   * @throws CoordinatorLostException if the coordinator does not answer
   */
  RenewedMembership(Supplier<Membership> sessions) {
    this.sessions = sessions;
    this.session = sessions.get();
    session.watch(this::runWatchers);
  }

  private void runWatchers() {
    watchers.forEach(Runnable::run);
  }

  /**
   * Opens another session, and uses it from now on, if what the one before had announced is
   * announced again.
   *
   * @param announce announces it by the new session; returns whether it did
   * @return whether the new session is used
   * @throws CoordinatorLostException if the coordinator does not answer
   */
  boolean renew(Predicate<ClusterState> announce) {
    Membership next = sessions.get();
    boolean used = false;
    try {
      used = announce.test(new ClusterState(next)) && use(next);
    } finally {
      if (!used) {
        next.close();
      }
    }
    runWatchers();
    return used;
  }

  private synchronized boolean use(Membership next) {
    if (closed) {
      return false;
    }
    session.close();
    next.watch(this::runWatchers);
    session = next;
    return true;
  }

  @Override
  public Optional<Entry> read(String path) {
    return session.read(path);
  }

  @Override
  public List<String> list(String folder) {
    return session.list(folder);
  }

  @Override
  public boolean commit(List<Write> writes) {
    return session.commit(writes);
  }

  @Override
  public void watch(Runnable action) {
    watchers.add(action);
  }

  @Override
  public void unwatch(Runnable action) {
    watchers.remove(action);
  }

  @Override
  public Status status() {
    return session.status();
  }

  @Override
  public synchronized void close() {
    closed = true;
    session.close();
  }
}
