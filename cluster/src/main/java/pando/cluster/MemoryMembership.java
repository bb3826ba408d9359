package pando.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A session with a {@link MemoryCoordinator}. */
public final class MemoryMembership implements Membership {
  private final MemoryCoordinator coordinator;
  private final List<Runnable> watchers = new CopyOnWriteArrayList<>();

  /** When it was disconnected, by the coordinator's clock; {@code null} while connected. */
  volatile @Nullable Duration disconnectedAt;

  /** Whether the coordinator has ended it. */
  volatile boolean isOver;

  MemoryMembership(MemoryCoordinator coordinator) {
    this.coordinator = coordinator;
  }

  @Override
  public Optional<Entry> read(String path) {
    check("read " + path);
    return coordinator.read(path);
  }

  @Override
  public List<String> list(String folder) {
    check("list " + folder);
    return coordinator.list(folder);
  }

  @Override
  public boolean commit(List<Write> writes) {
    Write.check(writes);
    check("commit");
    return coordinator.commit(this, writes);
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
    if (disconnectedAt != null) {
      return Status.SUSPENDED;
    }
    return isOver ? Status.LOST : Status.CONNECTED;
  }

  @Override
  public void close() {
    coordinator.end(this);
  }

  void changed() {
    watchers.forEach(Runnable::run);
  }

  private void check(String action) {
    switch (status()) {
      case CONNECTED -> {}
      case SUSPENDED ->
          throw new CoordinatorLostException("the coordinator does not answer: action=" + action);
      case LOST -> throw new SessionLostException("the session has ended: action=" + action);
    }
  }
}
