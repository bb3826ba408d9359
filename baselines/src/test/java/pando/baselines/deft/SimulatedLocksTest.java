package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.index.Seeds;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;
import pando.sim.fault.Fault;

/** Many clients in virtual time on a few locks. */
@Tag("campaign")
@Timeout(300)
class SimulatedLocksTest {
  private static final int COMPUTE_SERVERS = 4;
  private static final int CLIENTS = 40;
  private static final int TURNS = 200;
  private static final int FEW_TURNS = 20;
  private static final int SETTLES_MAX = 400;
  private static final List<Kind> KINDS = List.of(Kind.values());
  private static final int FAILURES_MAX = 5;

  /** How long it may take until the card knows of one who asks. */
  private static final long UNDER_WAY_NANOS = 10_000;

  private static final long LONG_WAIT = TimeUnit.SECONDS.toNanos(100);
  private static final long NANOS_MAX = TimeUnit.MINUTES.toNanos(30);
  private static final long EVENTS_MAX = 100_000_000;
  private static final Set<Fault> HARMLESS =
      EnumSet.of(Fault.TORN, Fault.DELAY, Fault.PAUSE, Fault.CLOCK_JUMP);

  private static ClusterOptions options(long seed, Set<Fault> faults) {
    return ClusterOptions.defaults()
        .withServers(COMPUTE_SERVERS, 1)
        .withBytesPerServer(1 << 20)
        .withChunkBytes(64 << 10)
        .withFaults(faults)
        .withYieldShare(0.1)
        .withSeed(seed);
  }

  /** How a client takes a lock. */
  private enum Kind {
    SHARED,
    EXCLUSIVE,
    UPGRADE,
    TRY
  }

  /** Who is inside a lock, who waits for it, and what is in its node. */
  private static final class Model {
    /**
     * One who waits.
     *
     * @param since when he asked, in nanoseconds
     */
    private record Waiter(long since, boolean isShared) {}

    private final List<Waiter> waiters = new ArrayList<>();
    private int shared;
    private boolean exclusive;
    private long value;

    Waiter ask(long now, boolean isShared) {
      Waiter waiter = new Waiter(now, isShared);
      waiters.add(waiter);
      return waiter;
    }

    void giveUp(Waiter waiter) {
      waiters.remove(waiter);
    }

    void enter(Waiter waiter) {
      waiters.remove(waiter);
      enter(waiter.isShared);
    }

    void enter(boolean isShared) {
      assertThat(exclusive).isFalse();
      if (isShared) {
        shared++;
      } else {
        assertThat(shared).isZero();
        exclusive = true;
      }
    }

    /** Checks that none is passed over who asked before, but for others that share. */
    void checkOrder(Waiter entering) {
      assertThat(waiters)
          .allSatisfy(other ->
              assertThat(
                      other.since > entering.since - UNDER_WAY_NANOS
                          || (other.isShared && entering.isShared))
                  .as("%s before %s", entering, other)
                  .isTrue());
    }

    void leave() {
      shared -= exclusive ? 0 : 1;
      exclusive = false;
    }
  }

  /** What a run is like. */
  private record Trial(
      Cluster cluster,
      long seed,
      int locks,
      int turns,
      long waitNanos,
      int stayNanosMax,
      Check check) {}

  /** What can be checked, each besides those before. */
  private enum Check {
    EXCLUSION,
    CONTENT,
    ORDER
  }

  /** A client of some locks, which checks what it sees there. */
  private static final class Client {
    private final Trial trial;
    private final LockKit kit;
    private final Model[] models;
    private final SplittableRandom random;

    Client(Trial trial, LockKit kit, Model[] models, int number) {
      this.trial = trial;
      this.kit = kit;
      this.models = models;
      random = new SplittableRandom(trial.seed * 1_000 + number);
    }

    /** Takes turns; returns how many failed. */
    int run() {
      int failures = 0;
      for (int turn = 0; turn < trial.turns && failures < FAILURES_MAX; turn++) {
        try {
          takeTurn();
        } catch (PandoException e) {
          kit.locks.abandon(e);
          failures++;
        }
      }
      return failures;
    }

    private void takeTurn() {
      int number = random.nextInt(models.length);
      long node = LockKit.node(number);
      Model model = models[number];
      switch (KINDS.get(random.nextInt(KINDS.size()))) {
        case SHARED -> take(Kind.SHARED, node, model);
        case EXCLUSIVE -> take(Kind.EXCLUSIVE, node, model);
        case UPGRADE -> {
          take(Kind.SHARED, node, model);
          stay();
          model.leave();
          take(Kind.UPGRADE, node, model);
        }
        case TRY -> {
          if (!kit.locks.tryExclusive(node)) {
            return;
          }
          read(false, node, model);
          model.enter(false);
        }
      }
      stay();
      leave(node, model);
    }

    private void take(Kind kind, long node, Model model) {
      Model.Waiter waiter = model.ask(trial.cluster.nanos(), kind == Kind.SHARED);
      try {
        kit.reads(node);
        boolean holds =
            switch (kind) {
              case SHARED -> kit.locks.lockShared(node, kit.list);
              case EXCLUSIVE -> kit.locks.lockExclusive(node, kit.list);
              case UPGRADE -> kit.locks.upgrade(node, kit.list);
              case TRY -> throw new AssertionError(kind);
            };
        if (trial.check.compareTo(Check.ORDER) >= 0) {
          model.checkOrder(waiter);
        }
        read(holds, node, model);
      } catch (PandoException e) {
        model.giveUp(waiter);
        throw e;
      }
      model.enter(waiter);
    }

    /** Checks what was read behind a lock, or reads it now. */
    private void read(boolean holds, long node, Model model) {
      if (!holds) {
        kit.worker.post(kit.reads(node));
      }
      if (trial.check.compareTo(Check.CONTENT) >= 0) {
        assertThat(kit.value(0)).isEqualTo(model.value);
        assertThat(kit.value(1)).isEqualTo(model.value);
      }
    }

    private void leave(long node, Model model) {
      boolean changes = model.exclusive;
      model.leave();
      if (changes) {
        model.value++;
        kit.locks.writeAndUnlock(node, kit.changes(node, model.value));
      } else {
        kit.locks.unlock(node);
      }
    }

    private void stay() {
      trial.cluster.sleepNanos(random.nextInt(trial.stayNanosMax));
    }
  }

  /** Runs all clients; returns how many turns failed. */
  private static int run(Trial trial) {
    Model[] models = new Model[trial.locks];
    Arrays.setAll(models, i -> new Model());
    Drains[] drains = new Drains[COMPUTE_SERVERS];
    Arrays.setAll(drains, i -> new Drains());
    AtomicInteger failures = new AtomicInteger();
    for (int i = 0; i < CLIENTS; i++) {
      int number = i;
      spawn(
          trial,
          drains,
          number,
          kit -> failures.addAndGet(new Client(trial, kit, models, number).run()));
    }
    trial.cluster.run(NANOS_MAX, EVENTS_MAX);
    // Each may wait for another compute server's.
    for (int i = 0; i < SETTLES_MAX && areThere(drains); i++) {
      spawn(trial, drains, i, SimulatedLocksTest::settle);
      trial.cluster.run(NANOS_MAX, EVENTS_MAX);
    }
    return failures.get();
  }

  private static boolean areThere(Drains[] drains) {
    return Arrays.stream(drains).anyMatch(each -> each.abandoned.areThere());
  }

  private static void settle(LockKit kit) {
    try {
      kit.locks.settle();
    } catch (PandoException _) {
      // The network is cut, perhaps; another tries again.
    }
  }

  private static void spawn(Trial trial, Drains[] drains, int number, Consumer<LockKit> body) {
    int server = number % COMPUTE_SERVERS;
    Fabric fabric = trial.cluster.fabric(server);
    trial
        .cluster
        .core(server)
        .spawn(
            "client-" + number,
            () -> {
              try (LockKit kit =
                  new LockKit(fabric, drains[server], false, trial.waitNanos, server, number)) {
                body.accept(kit);
              }
            });
  }

  private static void checkIdle(Trial trial) {
    try (LockKit kit = new LockKit(trial.cluster.fabric(0), new Drains(), false, LONG_WAIT, 0, 0)) {
      for (int i = 0; i < trial.locks; i++) {
        long word = kit.word(LockKit.node(i));
        assertThat(SxWord.isIdle(word)).as(SxWord.toString(word)).isTrue();
      }
    }
  }

  @ParameterizedTest(name = "seed={0} locks={1}")
  @CsvSource({"901, 1", "902, 1", "903, 3", "904, 30"})
  void shouldExcludeInTheOrderOfAsking(long seed, int locks) {
    long start = Seeds.of(seed);
    try (Cluster cluster = new Cluster(options(start, Set.of()))) {
      Trial trial = new Trial(cluster, start, locks, TURNS, LONG_WAIT, 3_000, Check.ORDER);
      assertThat(run(trial)).isZero();
      checkIdle(trial);
    }
  }

  @ParameterizedTest(name = "seed={0} locks={1}")
  @CsvSource({"911, 1", "912, 1", "913, 3", "914, 30"})
  void shouldExcludeWhateverIsTornOrLate(long seed, int locks) {
    long start = Seeds.of(seed);
    try (Cluster cluster = new Cluster(options(start, HARMLESS))) {
      Trial trial = new Trial(cluster, start, locks, FEW_TURNS, LONG_WAIT, 3_000, Check.CONTENT);
      assertThat(run(trial)).isZero();
      checkIdle(trial);
    }
  }

  /** Nobody waits as long as some stay inside, so tickets are abandoned by the dozen. */
  @ParameterizedTest(name = "seed={0} locks={1}")
  @CsvSource({"921, 1", "922, 2", "923, 5"})
  void shouldExcludeAndGoOnBehindThoseWhoGaveUp(long seed, int locks) {
    long start = Seeds.of(seed);
    try (Cluster cluster = new Cluster(options(start, Set.of()))) {
      Trial trial = new Trial(cluster, start, locks, FEW_TURNS, 1, 100_000_000, Check.CONTENT);
      assertThat(run(trial)).isPositive();
      checkIdle(trial);
    }
  }

  /** Locks may stay locked then; but nobody comes in who must not. */
  @ParameterizedTest(name = "seed={0} locks={1}")
  @CsvSource({"931, 1", "932, 10", "933, 30", "934, 100", "935, 100"})
  void shouldExcludeWhereNobodyKnowsWhatCameOfAVerb(long seed, int locks) {
    Set<Fault> faults =
        EnumSet.of(Fault.LOST_COMPLETION, Fault.BROKEN_LIST, Fault.CUT, Fault.CRASH_COMPUTE);
    faults.addAll(HARMLESS);
    long start = Seeds.of(seed);
    try (Cluster cluster = new Cluster(options(start, faults))) {
      int failures = run(new Trial(cluster, start, locks, TURNS, 1, 3_000, Check.EXCLUSION));
      System.out.println("failures=" + failures + ", faults=" + cluster.faults());
      assertThat(failures).isPositive();
    }
  }

  /** One hot lock and 40 clients: what it is for. */
  @Test
  void shouldServeMoreThanCasWhereOneLockIsHot() {
    double cas = throughput(true, false);
    double shared = throughput(false, false);
    double exclusive = throughput(false, true);
    System.out.printf("Mops: cas=%.3f, shared=%.3f, exclusive=%.3f%n", cas, shared, exclusive);
    assertThat(shared).isGreaterThan(2 * cas);
    assertThat(exclusive).as("fair, and a round trip to each").isGreaterThan(cas / 2);
  }

  private static double throughput(boolean casLocks, boolean exclusively) {
    long nanos = 5_000_000;
    long[] done = new long[1];
    try (Cluster cluster = new Cluster(options(Seeds.of(941), Set.of()))) {
      Drains drains = new Drains();
      for (int i = 0; i < CLIENTS; i++) {
        int number = i;
        int server = i % COMPUTE_SERVERS;
        cluster
            .core(server)
            .spawn(
                "client-" + i,
                () -> {
                  try (LockKit kit =
                      new LockKit(
                          cluster.fabric(server), drains, casLocks, LONG_WAIT, server, number)) {
                    long node = LockKit.NODE;
                    for (; cluster.nanos() < nanos; done[0]++) {
                      if (exclusively) {
                        kit.locks.lockExclusive(node, kit.reads(node));
                      } else {
                        kit.locks.lockShared(node, kit.reads(node));
                      }
                      kit.locks.writeAndUnlock(node, kit.changes(node, number));
                    }
                  }
                });
      }
      cluster.run(NANOS_MAX, EVENTS_MAX);
    }
    return done[0] * 1e3 / nanos;
  }
}
