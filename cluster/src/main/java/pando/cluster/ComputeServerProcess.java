package pando.cluster;

import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.client.server.ClientService;
import pando.durable.ClusterLog;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.Authentication;
import pando.index.Partitioned;
import pando.index.RangeIndex;
import pando.index.bytes.ByteStrings;
import pando.journal.LogFullException;

/**
 * A compute server of a cluster: one range of the index, and its share of the cluster's work.
 *
 * <p>At its start it gets its number's next epoch; waits for the memory servers; fences all earlier
 * starts of its number and waits until their lease has run out; waits for a fence of its number
 * that is under way; makes the index, if it leads and there is none, or joins it; and asks for a
 * range if it has none. Then two threads take the steps of its {@link Agent}. If its session with
 * the coordinator ends, it opens another one and goes on with its ranges, unless it was fenced.
 */
public final class ComputeServerProcess implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ComputeServerProcess.class.getName());

  /** Between steps that lead: a leader that rests for a second counts as one that stood still. */
  private static final Duration LEAD_PAUSE = Duration.ofMillis(250);

  /** Between steps that execute. Each looks at the index, to say how many entries it has. */
  private static final Duration EXECUTE_PAUSE = Duration.ofSeconds(1);

  /** What is changed is in the pool after so many leases, or soon afterwards. */
  private static final int LEASES_TO_A_PASS = 10;

  /** Why it has ended. */
  public enum End {
    /** It was closed. */
    CLOSED,
    /** It was taken out of the cluster; its range is with others. */
    REMOVED,
    /** It was fenced, or its log has failed: others, or its next start, take over what it had. */
    LOST,
    /** The coordinator did not answer for too long. */
    COORDINATOR_GONE
  }

  private final RenewedMembership membership;
  private final ComputeServerSettings settings;
  private final CompletableFuture<End> end;
  private final long epoch;
  private final Fabric fabric;
  private final Partitioned index;
  private final RenewedLease lease;

  /** Whether data folders have all that was acknowledged, so that the pool need not get it. */
  private final boolean isKeptInFolders;

  private final Agent agent;
  private @Nullable ClientService service;
  private final List<StepThread> threads;
  private final Lock closing = new ReentrantLock();
  private boolean closed;

  private ComputeServerProcess(
      Host host,
      RenewedMembership membership,
      ComputeServerSettings settings,
      long epoch,
      Fabric fabric,
      Partitioned index,
      @Nullable ClusterLog log,
      CompletableFuture<End> end,
      Config config) {
    this.membership = membership;
    this.settings = settings;
    this.epoch = epoch;
    this.fabric = fabric;
    this.index = index;
    this.end = end;
    this.isKeptInFolders = config.log() == LogMode.DATA;
    this.agent =
        new Agent(
            host, membership, settings.number(), epoch, fabric, index, config, LeaderHooks.NONE);
    agent.setLog(log);
    this.lease = RenewedLease.take(host, fabric, Duration.ofMillis(config.leaseMillis()));
    try {
      if (!PlantedClusterBug.LEASE_UNCHECKED) {
        agent.answerWhile(lease);
      }
    } catch (Throwable e) {
      Closing.after(e, lease::close);
      throw e;
    }
    this.threads =
        List.of(
            stepThread("leads", LEAD_PAUSE, host, agent::lead),
            stepThread("executes", EXECUTE_PAUSE, host, agent::execute));
  }

  private StepThread stepThread(String what, Duration pause, Host host, BooleanSupplier step) {
    String name = "pando-compute-server-" + settings.number() + "-" + what;
    return new StepThread(
        name,
        pause,
        host,
        membership,
        settings.coordinatorWait(),
        end,
        () -> {
          boolean more = step.getAsBoolean();
          if (agent.isRemoved()) {
            end.complete(End.REMOVED);
          }
          return more;
        });
  }

  /**
   * Starts a compute server.
   *
   * @param sessions opens sessions with the coordinator, each when the one before has ended; they
   *     end with the compute server
   * @throws IllegalArgumentException if clients cannot be served where the settings say
   * @throws ClusterException if the cluster is another than expected
   * @throws WaitOverException if another one keeps its number, or memory servers are missing
   * @throws CoordinatorLostException if the coordinator does not answer
   */
  public static ComputeServerProcess start(
      Supplier<Membership> sessions, ComputeServerSettings settings) {
    return start(sessions, settings, Host.real());
  }

  /** As {@link #start(Supplier, ComputeServerSettings)}, on a host. */
  public static ComputeServerProcess start(
      Supplier<Membership> sessions, ComputeServerSettings settings, Host host) {
    RenewedMembership membership = new RenewedMembership(sessions);
    try {
      return joined(host, membership, settings);
    } catch (Throwable e) {
      membership.close();
      throw e;
    }
  }

  private static ComputeServerProcess joined(
      Host host, RenewedMembership membership, ComputeServerSettings settings) {
    Joining joining = new Joining(host, new ClusterState(membership), settings);
    long epoch = joining.takeNumber();
    Fabric fabric = joining.attach(new ComputeServer(settings.number(), epoch));
    try {
      joining.endPredecessors(fabric, epoch);
      return begun(host, membership, settings, epoch, fabric, joining.index(fabric, epoch));
    } catch (Throwable e) {
      Closing.after(e, fabric::close);
      throw e;
    }
  }

  private static ComputeServerProcess begun(
      Host host,
      RenewedMembership membership,
      ComputeServerSettings settings,
      long epoch,
      Fabric fabric,
      Joining.Joined joined) {
    Partitioned index = joined.index();
    Config config = joined.config();
    CompletableFuture<End> end = new CompletableFuture<>();
    ClusterLog log = null;
    try {
      if (config.log() != LogMode.NONE && settings.options().isLogged()) {
        ClusterState state = new ClusterState(membership);
        ClusterLog.Opened opened =
            ClusterLog.open(
                index,
                new ComputeServer(settings.number(), epoch),
                number -> config.log() == LogMode.MEMORY && FencedHere.isLost(state, number),
                Duration.ofMillis(config.leaseMillis()).multipliedBy(LEASES_TO_A_PASS),
                () -> end.complete(End.LOST));
        index = opened.index();
        log = opened.log();
      }
      ComputeServerProcess process =
          new ComputeServerProcess(
              host, membership, settings, epoch, fabric, index, log, end, config);
      process.begin();
      return process;
    } catch (Throwable e) {
      Partitioned its = index;
      Closing.after(e, its::close, fabric::close, its::close);
      if (e instanceof LogFullException) {
        throw new WaitOverException(
            "what earlier starts logged is not replayed: " + e.getMessage(), e);
      }
      throw e;
    }
  }

  private void begin() {
    try {
      settings.clients().ifPresent(this::openService);
      threads.forEach(StepThread::start);
    } catch (Throwable e) {
      closeAfter(e);
      throw e;
    }
  }

  private void openService(ClientListener clients) {
    InetSocketAddress address = clients.address();
    Authentication authentication = clients.authentication();
    Supplier<Routes> routes = agent::routes;
    int lanes = clients.lanes();
    ClientService opened =
        switch (index) {
          case ByteStrings strings ->
              ClientService.start(strings, address, authentication, routes, lanes);
          case RangeIndex words ->
              ClientService.start(words, address, authentication, routes, lanes);
          default -> throw new IllegalStateException("no index of clients: name=" + index.name());
        };
    service = opened;
    agent.setClientAddress(Machine.text(opened.address()));
  }

  /**
   * Returns what it serves, whose sessions answer only while the lease is held. It ends with this
   * compute server. Its {@linkplain Partitioned#partitions ranges} are moved by changes that the
   * cluster is asked for, not here.
   */
  public Partitioned index() {
    return index;
  }

  /** Returns the {@link #index} if it is one of words. */
  public Optional<RangeIndex> words() {
    return index instanceof RangeIndex words ? Optional.of(words) : Optional.empty();
  }

  /** Returns the {@link #index} if it is one of byte strings. */
  public Optional<ByteStrings> strings() {
    return index instanceof ByteStrings strings ? Optional.of(strings) : Optional.empty();
  }

  /** Returns which start of its number this is. */
  public long epoch() {
    return epoch;
  }

  /**
   * Waits until it has ended, by itself or by {@link #close}. Close what it used then.
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
   * Ends it: it serves no client any more, and writes back what only its caches have, unless it is
   * fenced. Its range waits until the leader gives it to another compute server. To give the range
   * away first, ask for {@link Change#remove}. A second call does nothing.
   *
   * @throws PandoException if something could not be written back
   */
  @Override
  public void close() {
    end.complete(End.CLOSED);
    // A second caller waits for the first.
    closing.lock();
    try {
      if (!closed) {
        closed = true;
        closeOnce();
      }
    } finally {
      closing.unlock();
    }
  }

  private void closeOnce() {
    List<Runnable> steps = new ArrayList<>();
    threads.forEach(thread -> steps.add(thread::close));
    ClientService opened = service;
    if (opened != null) {
      steps.add(opened::close);
    }
    steps.add(lease::stop);
    if (!isKeptInFolders || !isLost()) {
      steps.add(index::close);
    }
    // An index that was not written back stays open until its fabric is closed. That ends a READ of
    // the lease, too, which may wait for a memory server that is gone.
    steps.addAll(List.of(fabric::close, lease::close, this::closeUnwritten, membership::close));
    try {
      Closing.all(steps);
    } catch (PandoException e) {
      if (!isLost()) {
        throw e;
      }
      LOG.log(Level.DEBUG, "others have taken over what could not be written back", e);
    }
  }

  /** Closes an index that was not written back, once its fabric is closed. */
  private void closeUnwritten() {
    try {
      index.close();
    } catch (IllegalStateException e) {
      LOG.log(Level.DEBUG, "what was not written back is not in the pool", e);
    }
  }

  /** Closes what was begun; suppresses failures of that in the cause. */
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

  /** Returns whether it has the lease, so that what its caches hold may be answered now. */
  public boolean hasLease() {
    return lease.isHeld();
  }

  /** Returns which compute server serves which keys, as it is known here; asks nobody. */
  public Routes routes() {
    return agent.routes();
  }

  /** Returns where it serves clients, if it does. */
  public Optional<InetSocketAddress> clientAddress() {
    return Optional.ofNullable(service).map(ClientService::address);
  }
}
