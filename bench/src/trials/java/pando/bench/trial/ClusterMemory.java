package pando.bench.trial;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import pando.cluster.Host;
import pando.cluster.MemoryServerProcess;
import pando.cluster.ServedMemory;
import pando.durable.ClusterFolder;
import pando.fabric.PandoException;
import pando.sim.Cluster;

/**
 * The place of a memory server in a simulated cluster with data folders: its process is started
 * again whenever it has ended, with empty memory.
 */
final class ClusterMemory {
  private static final Duration START_WAIT = Duration.ofSeconds(2);
  private static final long START_NANOS = 40_000_000;
  private static final long LOOK_NANOS = 1_000_000;

  private final Cluster cluster;
  private final SimCoordinator coordinator;
  private final TrialFolders folders;
  private final int number;
  private final Host host;
  private final SplittableRandom random;
  private final BooleanSupplier isOver;
  private final BooleanSupplier isServed;
  private int starts;
  private boolean isRunning;

  /**
   * Creates a place without a process.
   *
   * @param isOver whether no further one is to start
   * @param isServed whether the other folders have all entries, so that one may be lost
   */
  ClusterMemory(
      Cluster cluster,
      SimCoordinator coordinator,
      TrialFolders folders,
      int number,
      Host host,
      SplittableRandom random,
      BooleanSupplier isOver,
      BooleanSupplier isServed) {
    this.cluster = cluster;
    this.coordinator = coordinator;
    this.folders = folders;
    this.number = number;
    this.host = host;
    this.random = random;
    this.isOver = isOver;
    this.isServed = isServed;
  }

  /** Returns whether a process runs. */
  boolean isRunning() {
    return isRunning;
  }

  /** Returns how many processes were started. */
  int starts() {
    return starts;
  }

  /** Runs one process after the other. */
  void run() {
    while (!isOver.getAsBoolean()) {
      cluster.sleepNanos(1 + random.nextLong(START_NANOS));
      folders.open(number);
      try {
        serve();
      } finally {
        folders.close(number);
      }
    }
  }

  private void serve() {
    Start start = new Start();
    starts++;
    try (MemoryServerProcess process =
        MemoryServerProcess.start(
            host,
            coordinator::connect,
            number,
            RecordedTrial.BYTES_PER_SERVER,
            number < ClusterFolder.FOLDERS_MAX,
            START_WAIT,
            starts,
            () -> start)) {
      isRunning = true;
      process.awaitEnd();
      isRunning = false;
      if (start.isKilled()) {
        leaveFolder();
        // The coordinator learns of it after a while.
        cluster.sleepNanos(random.nextLong(SimCoordinator.SESSION_TIMEOUT.toNanos()));
      }
    } catch (PandoException e) {
      // The one before it is not known as ended yet, or the pool was ended meanwhile.
      start.close();
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted in a simulation", e);
    }
  }

  /** Sometimes the disk is lost with the machine: one in a run. */
  private void leaveFolder() {
    if (isServed.getAsBoolean() && !folders.isDiskLost() && random.nextBoolean()) {
      folders.lose(number);
    } else {
      folders.kill(number);
    }
  }

  /** The memory server of one process. */
  private final class Start implements ServedMemory {
    private boolean closed;

    Start() {
      cluster.stopMemoryServer(number);
      cluster.startMemoryServer(number);
    }

    /** Returns whether it ended by a fault. */
    boolean isKilled() {
      return !closed && cluster.isLost(number);
    }

    @Override
    public String place() {
      return "memory-" + number + ":" + starts;
    }

    @Override
    public void fence(int computeServer, long leastEpoch) {
      while (!cluster.fence(number, computeServer, leastEpoch)) {
        cluster.sleepNanos(LOOK_NANOS);
      }
    }

    @Override
    public void awaitClosed() {
      while (!closed && !cluster.isLost(number) && !isOver.getAsBoolean()) {
        cluster.sleepNanos(LOOK_NANOS);
      }
    }

    @Override
    public void close() {
      if (!closed && !isOver.getAsBoolean()) {
        closed = true;
        cluster.stopMemoryServer(number);
      }
    }
  }
}
