package pando.cluster;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import pando.durable.NextGeneration;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.index.Partitioned;
import pando.journal.DamagedFolderException;
import pando.journal.DataFolderException;
import pando.journal.EmptyFolderException;

/** How a compute server comes into a cluster. */
final class Joining {
  private static final System.Logger LOG = System.getLogger(Joining.class.getName());

  private static final String ADVICE =
      "restore it from a backup, or take the folder of another memory server, by pando cluster"
          + " rebuild --from";

  private final Host host;
  private final ClusterState state;
  private final ComputeServerSettings settings;
  private final int number;

  /** The index, if this compute server made it. */
  private @Nullable Partitioned made;

  /** The generation that it began with the index; 0 if there are no data folders. */
  private long generation;

  /** The memory servers that it is connected to. */
  private List<PoolEntry> pool = List.of();

  /** Whether it was logged that a person has to ask for a generation. */
  private boolean hasSaidWhy;

  Joining(Host host, ClusterState state, ComputeServerSettings settings) {
    this.host = host;
    this.state = state;
    this.settings = settings;
    this.number = settings.number();
  }

  /** An index, and what the cluster agrees on. */
  record Joined(Partitioned index, Config config) {}

  /** Takes the number, with its next epoch; returns that. */
  long takeNumber() {
    state.config().ifPresent(this::checkConfig);
    return Waiting.forValue(
        host,
        state.membership(),
        settings.startWait(),
        this::nextEpoch,
        () -> "another compute server has this number: " + state.computeServer(number));
  }

  /** Takes the number, if no other compute server has it. */
  private Optional<Long> nextEpoch() {
    // In this order, so that a fence that raises the epoch meanwhile is noticed.
    ClusterState.Versioned<Long> before = state.epoch(number);
    Member member = Machine.member(number, before.value() + 1, "");
    boolean isTaken =
        state.computeServer(number).isEmpty() && state.announceCompute(member, before);
    return isTaken ? Optional.of(member.epoch()) : Optional.empty();
  }

  private void checkConfig(Config found) {
    Config expected = settings.config();
    if (!found.system().equals(expected.system())
        || !found.settings().equals(expected.settings())
        || found.memoryServers() != expected.memoryServers()
        || found.log() != expected.log()) {
      throw new ClusterException(
          "the cluster has another index; start with its settings (without any, they are taken from"
              + " the cluster), or under another name: found="
              + found
              + ", expected="
              + expected);
    }
  }

  /** Connects to the memory servers, once all are there. */
  Fabric attach(ComputeServer name) {
    int needed = settings.config().memoryServers();
    Waiting.until(
        host,
        state.membership(),
        settings.startWait(),
        () -> {
          pool = state.pool();
          return pool.size() >= needed && state.memoryServers().size() >= needed;
        },
        () ->
            "memory servers are missing: needed=%s, running=%s, pool=%s"
                .formatted(needed, state.memoryServers(), state.pool()));
    if (pool.size() != needed || pool.getLast().number() != needed - 1) {
      throw new ClusterException(
          "not the memory servers that are expected, numbered from 0: needed="
              + needed
              + ", pool="
              + pool);
    }
    return settings.pool().attach(pool, name);
  }

  /**
   * Makes sure that nothing of earlier starts of this number goes on, and waits for their fences.
   * Fences of other numbers that are under way are made sure of, too: a join takes the lock of the
   * partition table over from a process only if this fabric knows that it is gone.
   *
   * @throws FencedException if a fence is for this start itself
   */
  void endPredecessors(Fabric fabric, long epoch) {
    if (epoch > 1 && !PlantedClusterBug.PREDECESSORS_KEPT) {
      fabric.fence(number, epoch);
      Config config = state.config().orElse(settings.config());
      sleep(RenewedLease.outlasting(Duration.ofMillis(config.leaseMillis())));
    }
    Waiting.until(
        host,
        state.membership(),
        settings.startWait(),
        () -> {
          List<Change> fences =
              state.changes().stream()
                  .filter(change -> change.isFenceUnderWay() && change.server() == number)
                  .toList();
          fences.forEach(change -> endUnled(fabric, change, epoch));
          return fences.isEmpty();
        },
        () -> "a fence of this number does not end: number=" + number);
    new FencedHere(host, fabric, state).follow(state.changes());
  }

  /**
   * Ends a fence of an earlier start of this number if no leader goes on with it, and no heir can:
   * what it was for has been done by this start.
   */
  private void endUnled(Fabric fabric, Change fence, long epoch) {
    if (fence.leastEpoch() > epoch) {
      throw new FencedException(
          "this start is fenced; start it again: epoch=" + epoch + ", fence=" + fence);
    }
    Optional<ClusterState.Leadership> leadership = state.leadership();
    if (leadership.isEmpty()) {
      state.lead(number, epoch);
    } else if (leadership.get().isOf(number, epoch)
        && isUnexecuted(fabric, fence, leadership.get())) {
      state.writeChange(fence, fence.done(), leadership.get());
    }
  }

  /**
   * Returns whether no heir executes a fence. An heir that is lost is fenced: nobody else may run
   * who would do so, and it may wait itself for this compute server, as the heir of its own range.
   */
  private boolean isUnexecuted(Fabric fabric, Change fence, ClusterState.Leadership leadership) {
    int heir = fence.executor();
    if (heir == Change.NONE) {
      return true;
    }
    // In this order: an heir that starts again raises its epoch, and is there at once.
    ClusterState.Versioned<Long> heirEpoch = state.epoch(heir);
    if (heirEpoch.value() > fence.executorEpoch()) {
      fabric.fence(heir, fence.executorEpoch() + 1, server -> FencedHere.isLost(state, server));
      return true;
    }
    if (state.computeServer(heir).isEmpty()) {
      int lost = state.ask(Change.lost(heir, heirEpoch.value()));
      state.beginFence(state.change(lost).orElseThrow(), heirEpoch, leadership);
    }
    return false;
  }

  private void sleep(Duration time) {
    try {
      host.signal().await(time.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException("interrupted while a lease ran out");
    }
  }

  /** Joins the index, or makes it where this compute server leads and there is none. */
  Joined index(Fabric fabric, long epoch) {
    try {
      Waiting.until(
          host,
          state.membership(),
          settings.startWait(),
          () -> {
            checkPool();
            return state.config().isPresent() || makeAsLeader(fabric, epoch);
          },
          () ->
              "no index was made: leader=%s, why=%s"
                  .formatted(state.leader(), state.rebuild().why()));
      Config config = state.config().orElseThrow();
      checkConfig(config);
      if (made != null && config.generation() != generation) {
        throw new GenerationException("another one began a generation: " + config, null);
      }
      return new Joined(made == null ? joined(fabric) : made, config);
    } catch (Throwable e) {
      Closing.after(e, this::closeMade);
      throw e;
    }
  }

  /** Where there are data folders, memory servers start again before a generation begins. */
  private void checkPool() {
    boolean isOther = !incarnations(state.pool()).equals(incarnations(pool));
    if (settings.config().log() == LogMode.DATA && isOther) {
      throw new GenerationException("memory servers have started again: before=" + pool, null);
    }
  }

  private static List<Long> incarnations(List<PoolEntry> entries) {
    return entries.stream().map(PoolEntry::incarnation).toList();
  }

  private void closeMade() {
    if (made != null) {
      made.close();
    }
  }

  private boolean makeAsLeader(Fabric fabric, long epoch) {
    Optional<ClusterState.Leadership> leadership = state.leadership();
    if (leadership.isEmpty()) {
      state.lead(number, epoch);
      return false;
    }
    if (!leadership.get().isOf(number, epoch)) {
      return false;
    }
    if (settings.config().log() == LogMode.DATA) {
      return beginGeneration(fabric, leadership.get());
    }
    if (state.generation() > 0 || state.rebuild().isMade()) {
      throw new ClusterException(
          "the cluster has data folders: start compute servers with their log there");
    }
    if (made == null) {
      made = createdOrJoined(fabric);
    }
    return state.writeConfig(settings.config(), leadership.get());
  }

  private boolean beginGeneration(Fabric fabric, ClusterState.Leadership leadership) {
    if (!settings.options().isLogged()) {
      throw new ClusterException(
          "compute servers of this system log nothing: system=" + settings.options().system());
    }
    ClusterState.Versioned<Rebuild> choice = state.rebuildEntry();
    if (choice.value().isAwaited()) {
      sayOnce(choice.value().why());
      return false;
    }
    try (NextGeneration next = nextGeneration(fabric, choice.value(), leadership)) {
      return fill(fabric, next, leadership, choice);
    } catch (DamagedFolderException | EmptyFolderException e) {
      String why = e.getMessage() + "; " + ADVICE;
      state.awaitRebuild(choice, why, leadership);
      throw new GenerationException("no generation can begin: " + why, e);
    } catch (DataFolderException e) {
      throw new GenerationException("no generation can begin: " + e.getMessage(), e);
    }
  }

  private void sayOnce(String why) {
    if (!hasSaidWhy) {
      hasSaidWhy = true;
      LOG.log(Level.WARNING, "no generation begins before it is asked for: {0}", why);
    }
  }

  private NextGeneration nextGeneration(
      Fabric fabric, Rebuild choice, ClusterState.Leadership leadership) {
    long last = state.generation();
    try {
      return new NextGeneration(
          fabric, settings.options(), last, choice.from(), choice.cluster(), leadership.version());
    } catch (IllegalStateException e) {
      throw begunInPart(e, leadership);
    }
  }

  private GenerationException begunInPart(
      RuntimeException cause, ClusterState.Leadership leadership) {
    Closing.after(cause, () -> state.giveGenerationUp(leadership));
    return new GenerationException(
        "a generation did not begin as a whole, and memory servers start again: "
            + cause.getMessage(),
        cause);
  }

  /** Where it does not begin as a whole, memory servers start again, with an empty pool. */
  private boolean fill(
      Fabric fabric,
      NextGeneration next,
      ClusterState.Leadership leadership,
      ClusterState.Versioned<Rebuild> choice) {
    try {
      Partitioned index = settings.options().createAt(fabric, number);
      made = index;
      generation = next.begin(index);
      Config config = settings.config().withGeneration(generation);
      boolean hasBegun = state.beginGeneration(config, leadership, pool, choice);
      if (!hasBegun) {
        state.giveGenerationUp(leadership);
      }
      return hasBegun;
    } catch (DamagedFolderException e) {
      throw e;
    } catch (PandoException | IllegalStateException e) {
      throw begunInPart(e, leadership);
    } catch (Throwable e) {
      Closing.after(e, () -> state.giveGenerationUp(leadership));
      throw e;
    }
  }

  /** Makes the index; one that an earlier leader made, and could not report, is joined. */
  private Partitioned createdOrJoined(Fabric fabric) {
    try {
      return settings.options().createAt(fabric, number);
    } catch (IllegalStateException e) {
      return joined(fabric);
    }
  }

  private Partitioned joined(Fabric fabric) {
    try {
      return settings.options().joinAt(fabric, number);
    } catch (IllegalStateException e) {
      throw new ClusterException(
          "the pool has another index than the cluster: " + e.getMessage(), e);
    }
  }
}
