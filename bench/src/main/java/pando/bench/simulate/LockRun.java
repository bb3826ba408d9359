package pando.bench.simulate;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import pando.bench.run.Setup;
import pando.bench.workload.Distribution;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.sim.Cluster;

/** Clients that do nothing but take and release locks in one memory server. */
public final class LockRun {
  private static final long POOL_BYTES = 16 << 20;
  private static final long SETTLING_NANOS = 2_000_000;

  /** The SX lock's word: X_CUR, X_TIC, S_CUR and S_TIC, from the highest bits down. */
  private static final long BOUNDARIES = 0x8000_8000_8000_8000L;

  private static final int X_CURRENT = 48;
  private static final int X_TICKET = 32;
  private static final int S_CURRENT = 16;
  private static final int S_TICKET = 0;
  private static final int FIELD_MASK = 0xFFFF;

  private static final long FOUND = Long.BYTES;
  private static final int PAUSE_DOUBLING = 4;

  private final SimPlan plan;
  private final LockKind kind;
  private final Cluster cluster;
  private final Meter meter;
  private final Distribution.Draw draw;

  /** The counters of each client. */
  private final List<VerbCounters> counters = new ArrayList<>();

  private LockRun(SimPlan plan, LockKind kind, Cluster cluster) {
    this.plan = plan;
    this.kind = kind;
    this.cluster = cluster;
    meter = new Meter(cluster, plan, this::verbs, SETTLING_NANOS);
    draw = plan.distribution().over(plan.records(), plan.theta());
  }

  /** Runs a plan, whose records are the locks, at most {@link LockKind#locksMax}. */
  public static SimResult run(SimPlan plan, LockKind kind) {
    try (Cluster cluster = new Cluster(plan.cluster().withBytesPerServer(POOL_BYTES))) {
      return new LockRun(plan, kind, cluster).run();
    }
  }

  private SimResult run() {
    int memoryServers = plan.cluster().pool().memoryServers();
    Setup setup = new Setup("lock", "sim", plan.cluster().computeServers(), memoryServers, 0);
    return meter.run(setup, kind.toString(), client -> () -> work(client));
  }

  private VerbCounters verbs() {
    VerbCounters sum = new VerbCounters();
    counters.forEach(sum::add);
    return sum;
  }

  private void work(int client) {
    Fabric fabric = cluster.fabric(plan.serverOf(client));
    SplittableRandom random = new SplittableRandom(plan.cluster().seed() * 1_000_003 + client);
    try (RegisteredMemory memory = fabric.register(FOUND + Long.BYTES);
        Worker worker = fabric.worker(memory)) {
      counters.add(worker.counters());
      while (meter.isRunning()) {
        takeAndRelease(worker, draw.next(random));
      }
    }
  }

  private void takeAndRelease(Worker worker, long lock) {
    long address =
        kind.isOnChip()
            ? GlobalAddress.onChip(0, lock * Long.BYTES)
            : GlobalAddress.of(0, Fabric.CATALOGUE_BYTES + lock * Long.BYTES);
    long start = cluster.nanos();
    long trips = cluster.roundTrips();
    boolean done =
        switch (kind) {
          case CAS, CHIP_CAS -> swap(worker, address);
          case SX_SHARED -> draw(worker, address, S_TICKET, S_CURRENT);
          case SX_EXCLUSIVE -> draw(worker, address, X_TICKET, X_CURRENT);
        };
    if (done) {
      meter.record(start, cluster.roundTrips() - trips, 1);
    }
  }

  /** Takes and releases a lock by CAS and WRITE; {@code false} if the time is over before. */
  private boolean swap(Worker worker, long address) {
    while (worker.cas(address, 0, 1) != 0) {
      // Spins without a pause, as FG does: only the card slows it down.
      if (!meter.isRunning()) {
        return false;
      }
    }
    worker.write(address, 0, Long.BYTES);
    return true;
  }

  /** Takes and releases a lock by a ticket; {@code false} if the time is over before. */
  private boolean draw(Worker worker, long address, int ticket, int current) {
    long before = worker.maskedFaa(address, 1L << ticket, BOUNDARIES);
    long word = before;
    while (!mayEnter(word, before, ticket)) {
      // Waits longer if more tickets are ahead.
      int ahead = (field(before, X_TICKET) - field(word, X_CURRENT)) & FIELD_MASK;
      int doublings = Integer.SIZE - Integer.numberOfLeadingZeros(ahead);
      worker.backoff().pause(PAUSE_DOUBLING * doublings);
      if (!meter.isRunning()) {
        return false;
      }
      worker.read(address, FOUND, Long.BYTES);
      word = Words.get(worker.memory(), FOUND);
    }
    worker.maskedFaa(address, 1L << current, BOUNDARIES);
    return true;
  }

  private static boolean mayEnter(long word, long before, int ticket) {
    return field(word, X_CURRENT) == field(before, X_TICKET)
        && (ticket == S_TICKET || field(word, S_CURRENT) == field(before, S_TICKET));
  }

  private static int field(long word, int shift) {
    return (int) (word >>> shift) & FIELD_MASK;
  }
}
