package pando.cluster;

import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import pando.client.server.ClientService;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.index.RangeIndex;

/**
 * A compute server of a cluster: one range of the index, and its share of the cluster's work.
 *
 * <p>How it starts: it gets its number's next epoch; waits for the memory servers; fences all
 * earlier starts of its number and lets their lease run out; waits for a fence of its number that
 * is under way; makes the index, if it leads and there is none, or joins it; and asks for a range,
 * if it has none. Then two threads take the steps of its {@link Agent}.
 */
public final class ComputeServerProcess implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ComputeServerProcess.class.getName());
  private static final long STEP_MILLIS = 250;
  private static final long CLOSE_MILLIS = 10_000;

  /** Why it has ended. */
  public enum End {
    /** It was closed. */
    CLOSED,
    /** It was taken out of the cluster; its range is with others. */
    REMOVED,
    /** It was fenced, or its session ended: others take over what it had. */
    LOST,
    /** The coordinator did not answer for too long. */
    COORDINATOR_GONE
  }

  private final ClusterState state;
  private final ComputeServerSettings settings;
  private final CompletableFuture<End> end = new CompletableFuture<>();
  private final long epoch;
  private final Fabric fabric;
  private final RangeIndex index;
  private final Lease lease;
  private final Agent agent;
  private @Nullable ClientService door;
  private final List<Thread> threads;
  private boolean closed;

  private ComputeServerProcess(
      ClusterState state,
      ComputeServerSettings settings,
      long epoch,
      Fabric fabric,
      RangeIndex index,
      Config config) {
    this.state = state;
    this.settings = settings;
    this.epoch = epoch;
    this.fabric = fabric;
    this.index = index;
    this.agent =
        new Agent(state, settings.number(), epoch, fabric, index, config, LeaderHooks.NONE);
    this.lease = Lease.take(fabric, Duration.ofMillis(config.leaseMillis()));
    this.threads = List.of(thread("leads", agent::lead), thread("serves", agent::serve));
  }

  /**
   * Starts a compute server.
   *
   * @param state of the cluster
   * @throws IllegalArgumentException if clients cannot be served where the settings say
   * @throws ClusterException if another one has its number, or the cluster is another than expected
   * @throws CoordinatorLostException if the coordinator does not answer
   */
  public static ComputeServerProcess start(ClusterState state, ComputeServerSettings settings) {
    Joining joining = new Joining(state, settings);
    long epoch = joining.takeNumber();
    Fabric fabric = joining.attach(new ComputeServer(settings.number(), epoch));
    try {
      joining.endPredecessors(fabric, epoch);
      Joining.Joined joined = joining.index(fabric, epoch);
      try {
        ComputeServerProcess process =
            new ComputeServerProcess(
                state, settings, epoch, fabric, joined.index(), joined.config());
        try {
          process.begin();
          return process;
        } catch (Throwable e) {
          process.closeAfter(e);
          throw e;
        }
      } catch (Throwable e) {
        joined.index().close();
        throw e;
      }
    } catch (Throwable e) {
      fabric.close();
      throw e;
    }
  }

  private void begin() {
    settings.clients().ifPresent(this::serve);
    threads.forEach(Thread::start);
  }

  private void serve(ClientListener clients) {
    ClientService opened =
        ClientService.start(
            index(), clients.address(), clients.authentication(), agent::routes, clients.lanes());
    door = opened;
    agent.serveAt(Machine.text(opened.address()));
  }

  private Thread thread(String what, BooleanSupplier step) {
    return Thread.ofPlatform()
        .name("pando-compute-server-" + settings.number() + "-" + what)
        .daemon()
        .unstarted(() -> steps(step));
  }

  private void steps(BooleanSupplier step) {
    Semaphore changed = new Semaphore(0);
    state.membership().watch(changed::release);
    long answered = System.nanoTime();
    while (!end.isDone()) {
      boolean more = false;
      try {
        more = step.getAsBoolean();
        if (agent.isRemoved()) {
          end.complete(End.REMOVED);
        }
      } catch (FencedException | SessionLostException e) {
        LOG.log(Level.ERROR, "this compute server is lost to others: " + e.getMessage());
        end.complete(End.LOST);
      } catch (CoordinatorLostException e) {
        LOG.log(Level.DEBUG, "a step will be taken again", e);
      } catch (PandoException e) {
        LOG.log(Level.WARNING, "a step will be taken again: " + e);
      } catch (RuntimeException | Error e) {
        // A bug: as this process may hold what others wait for, it ends.
        LOG.log(Level.ERROR, "a step failed", e);
        end.completeExceptionally(e);
      }
      if (state.membership().session() != Membership.Session.SUSPENDED) {
        answered = System.nanoTime();
      } else if (System.nanoTime() - answered > settings.coordinatorWait().toNanos()) {
        LOG.log(Level.ERROR, "the coordinator does not answer for " + settings.coordinatorWait());
        end.complete(End.COORDINATOR_GONE);
      }
      if (!more) {
        pause(changed);
      }
    }
  }

  private void pause(Semaphore changed) {
    try {
      if (changed.tryAcquire(STEP_MILLIS, TimeUnit.MILLISECONDS)) {
        changed.drainPermits();
      }
    } catch (InterruptedException e) {
      end.complete(End.CLOSED);
    }
  }

  /** Returns the index, whose sessions answer only what may be answered. */
  public RangeIndex index() {
    return new LeasedIndex(index, lease);
  }

  /** Returns which start of its number this is. */
  public long epoch() {
    return epoch;
  }

  /**
   * Waits until it has ended, by itself or by {@link #close}; what it held is to be closed then.
   *
   * @throws IllegalStateException if it has failed, by a bug
   */
  public End awaitEnd() throws InterruptedException {
    try {
      return end.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the compute server has failed", e.getCause());
    }
  }

  /**
   * Ends it: no client is served any more, what its caches alone have is written back, unless it is
   * fenced, and its range waits for another compute server, which the leader finds. To give the
   * range away first, ask for {@link Change#remove}. A second call does nothing.
   *
   * @throws PandoException if something could not be written back
   */
  @Override
  public void close() {
    end.complete(End.CLOSED);
    closeAll();
  }

  /** A second caller waits for the first. */
  private synchronized void closeAll() {
    if (closed) {
      return;
    }
    closed = true;
    List<Runnable> steps = new ArrayList<>();
    threads.forEach(thread -> steps.add(() -> join(thread)));
    ClientService opened = door;
    if (opened != null) {
      steps.add(opened::close);
    }
    steps.addAll(List.of(lease::close, index::close, fabric::close));
    try {
      Closing.all(steps);
    } catch (PandoException e) {
      if (!isLost()) {
        throw e;
      }
      LOG.log(Level.DEBUG, "others have taken over what could not be written back", e);
    }
  }

  /** Closes what was begun, and keeps what that fails with beside its cause. */
  private void closeAfter(Throwable failure) {
    try {
      close();
    } catch (RuntimeException | Error e) {
      failure.addSuppressed(e);
    }
  }

  private boolean isLost() {
    return !end.isCompletedExceptionally() && end.getNow(End.CLOSED) == End.LOST;
  }

  private static void join(Thread thread) {
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns where it serves clients, if it does. */
  public Optional<InetSocketAddress> clients() {
    return Optional.ofNullable(door).map(ClientService::address);
  }
}
