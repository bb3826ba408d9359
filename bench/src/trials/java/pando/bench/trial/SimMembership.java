package pando.bench.trial;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import pando.cluster.CoordinatorLostException;
import pando.cluster.Entry;
import pando.cluster.Membership;
import pando.cluster.MemoryCoordinator;
import pando.cluster.MemoryMembership;
import pando.cluster.Write;

/**
 * A session whose calls take virtual time. Under a fault, what it reads stands still for a while,
 * as at a server of the coordinator that lags behind, but never behind its own last commit.
 */
final class SimMembership implements Membership {
  private final SimCoordinator coordinator;
  private final MemoryMembership session;
  private final List<Runnable> watchers = new ArrayList<>();

  /** What is read while it stands still. */
  private @Nullable NavigableMap<String, Entry> still;

  private long stillUntil;

  SimMembership(SimCoordinator coordinator, MemoryMembership session) {
    this.coordinator = coordinator;
    this.session = session;
    session.watch(this::changed);
  }

  @Override
  public Optional<Entry> read(String path) {
    go();
    NavigableMap<String, Entry> old = stillEntries();
    Optional<Entry> found = session.read(path);
    return comeBack("read", old == null ? found : Optional.ofNullable(old.get(path)));
  }

  @Override
  public List<String> list(String folder) {
    go();
    NavigableMap<String, Entry> old = stillEntries();
    List<String> found = session.list(folder);
    return comeBack("list", old == null ? found : MemoryCoordinator.list(old, folder));
  }

  @Override
  public boolean commit(List<Write> writes) {
    go();
    boolean made = session.commit(writes);
    moveOn();
    return comeBack("commit", made);
  }

  private void go() {
    coordinator.way();
  }

  private <T> T comeBack(String action, T answer) {
    coordinator.way();
    if (session.status() != Status.CONNECTED) {
      throw new CoordinatorLostException("the answer was lost: action=" + action);
    }
    return answer;
  }

  /** Returns what is read while it stands still, or {@code null}. */
  private @Nullable NavigableMap<String, Entry> stillEntries() {
    long now = coordinator.nanos();
    if (still != null && now >= stillUntil) {
      moveOn();
    }
    long nanos = still == null ? coordinator.stale() : 0;
    if (nanos > 0) {
      still = coordinator.entries().entries();
      stillUntil = now + nanos;
    }
    return still;
  }

  private void moveOn() {
    if (still != null) {
      still = null;
      watchers.forEach(Runnable::run);
    }
  }

  private void changed() {
    if (still == null || session.status() != Status.CONNECTED) {
      watchers.forEach(Runnable::run);
    }
  }

  @Override
  public void watch(Runnable onChange) {
    watchers.add(onChange);
  }

  @Override
  public void unwatch(Runnable onChange) {
    watchers.remove(onChange);
  }

  @Override
  public Status status() {
    return session.status();
  }

  @Override
  public void close() {
    session.close();
  }
}
