package pando.bench.simulate;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.cluster.ComputeServerProcess;
import pando.cluster.ComputeServerProcess.End;
import pando.cluster.ComputeServerSettings;
import pando.cluster.Config;
import pando.cluster.Host;
import pando.cluster.Membership;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.index.IndexOptions;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.sim.Cluster;
import pando.sim.Signal;

/** One start of a compute server of a simulated cluster, and its door, by which clients come. */
final class ClusterServer {
  private static final Duration START_WAIT = Duration.ofSeconds(2);
  private static final Duration COORDINATOR_WAIT = Duration.ofSeconds(60);

  private static final long CALL_NANOS_MAX = 60_000_000_000L;

  private final Cluster cluster;
  private final int number;
  private final ClusterWatch watch;
  private final Signal idle;
  private final Lock stopping = new ReentrantLock();
  private final Deque<Session> sessions = new ArrayDeque<>();
  private @Nullable ComputeServerProcess process;
  private @Nullable RangeIndex index;
  private boolean closing;
  private int calls;

  ClusterServer(Cluster cluster, int number, ClusterWatch watch) {
    this.cluster = cluster;
    this.number = number;
    this.watch = watch;
    this.idle = cluster.signal();
  }

  /**
   * Starts it and waits until it has ended.
   *
   * @param isOver whether no further one is to start
   * @throws PandoException if it does not start
   */
  End run(
      IndexOptions options,
      Config config,
      Host host,
      Supplier<Membership> sessions,
      BooleanSupplier isOver) {
    ComputeServerSettings settings =
        new ComputeServerSettings(
            number,
            options,
            config,
            (_, name) -> cluster.fabric(number, name),
            Optional.empty(),
            START_WAIT,
            COORDINATOR_WAIT);
    try {
      ComputeServerProcess started = ComputeServerProcess.start(sessions, settings, host);
      index = started.index();
      process = started;
      watch.started(this);
      if (isOver.getAsBoolean()) {
        stop();
      }
      End end = started.awaitEnd();
      stop();
      return end;
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted in a simulation", e);
    }
  }

  int number() {
    return number;
  }

  long epoch() {
    return opened().epoch();
  }

  private ComputeServerProcess opened() {
    return Objects.requireNonNull(process);
  }

  /** Returns whether it has ever served. */
  boolean isStarted() {
    return process != null;
  }

  /** Returns whether clients are served. */
  boolean isOpen() {
    return process != null && !closing;
  }

  /** Returns the ranges that it knows. */
  Partitioning partitioning() {
    return Objects.requireNonNull(index).partitioning();
  }

  /** Returns whether it takes a key for its own, and may answer from its caches. */
  boolean answers(long key) {
    return isOpen() && Objects.requireNonNull(index).serves(key) && opened().hasLease();
  }

  /** Returns the routes that it gives clients. */
  Routes routes() {
    return opened().routes();
  }

  /**
   * Carries out an operation, as a thread of its lanes does.
   *
   * @throws NotServedHereException if it is closed, or another one serves the key
   */
  <T> T serve(long key, Function<Session, T> operation) {
    if (!isOpen()) {
      throw new NotServedHereException(key, number);
    }
    calls++;
    try {
      Session session =
          sessions.isEmpty() ? Objects.requireNonNull(index).session() : sessions.pop();
      try {
        T answer = operation.apply(session);
        watch.answered(this, key);
        return answer;
      } finally {
        sessions.push(session);
      }
    } finally {
      if (--calls == 0) {
        idle.give();
      }
    }
  }

  /** Closes the door, waits for what it has begun, and closes the process. */
  void stop() {
    closing = true;
    stopping.lock();
    try {
      while (calls > 0) {
        idle.await(CALL_NANOS_MAX);
      }
      List<Runnable> steps = new ArrayList<>();
      sessions.forEach(session -> steps.add(session::close));
      sessions.clear();
      steps.add(() -> opened().close());
      Closing.all(steps);
    } finally {
      stopping.unlock();
    }
  }

  @Override
  public String toString() {
    return "compute server " + number + (process == null ? "" : ", epoch " + epoch());
  }
}
