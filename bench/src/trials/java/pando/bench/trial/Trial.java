package pando.bench.trial;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.index.CorruptNodeException;
import pando.index.IndexOptions;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Tree;
import pando.index.orca.OrcaIndex;
import pando.sim.Cluster;
import pando.sim.fault.Fault;

/**
 * One seed of a small cluster: tiny nodes and caches, so that splits, merges and evictions happen
 * all the time, with partitions that move where the system moves them and the plan has several
 * compute servers, and whatever faults are asked for. Records the operations of all clients and
 * checks their history; at the end walks the tree in the pool, and checks its entries as a last
 * read of every key.
 *
 * <p>Even seeds have all compute servers in one process, which adds and removes some; odd seeds
 * have one in each. Where machines die, one that lives buries what was there, or joins in its
 * place, and may be lost, too, meanwhile; of the systems that lose nothing so, all but one may.
 */
public final class Trial extends RecordedTrial {
  private static final long NANOS_MAX = 600_000_000_000L;
  private static final long EVENTS_MAX = 20_000_000;
  private static final int CHANGES_MAX = 12;
  private static final int NONE = -1;

  /** Above the epochs of all compute servers, which begin at 1. */
  private static final long FENCED_BELOW = 1 << 20;

  private static final long FIRST_EPOCH = 1;

  /** The longest time until the death of a process is noticed, in doublings of a nanosecond. */
  private static final int NOTICE_DOUBLINGS = 20;

  private final IndexOptions options;
  private final List<RangeIndex> indexes = new ArrayList<>();

  /** The compute servers that have joined in place of lost ones. */
  private final List<Joined> joined = new ArrayList<>();

  /** The numbers of those that were buried, and are not to join again. */
  private final Set<Integer> buried = new HashSet<>();

  private final Set<Fence> fences = new HashSet<>();

  private int finalClients = FINAL_CLIENT;
  private int changes;

  /** By the fabric of a machine. */
  private record Fence(int host, int lost, long leastEpoch) {}

  /** A compute server that has joined on a machine. */
  private record Joined(RangeIndex index, int server, int machine) {}

  private Trial(TrialPlan plan, long seed, Cluster cluster) {
    super(plan, seed, cluster);
    this.options = plan.draw(random);
  }

  /**
   * Runs a seed.
   *
   * @throws HangException if the run makes no progress
   */
  public static TrialResult run(TrialPlan plan, long seed) {
    int crashesMax = plan.isOneSided() ? plan.computeServers() - 1 : 1;
    try (Cluster cluster = new Cluster(shape(plan, seed).withCrashesMax(crashesMax))) {
      return new Trial(plan, seed, cluster).run();
    }
  }

  private TrialResult run() {
    open();
    spawn();
    if (runToEnd(() -> cluster.run(NANOS_MAX, EVENTS_MAX)) && !plan.isHarmless()) {
      findHangs();
    }
    clients.forEach(client -> violations.addAll(client.failures()));
    audit();
    return result(changes, Map.of());
  }

  private void open() {
    boolean together = seed % 2 == 0;
    int servers = plan.computeServers();
    indexes.add(options.create(cluster.fabric(0), 0, together ? servers : 1));
    load(indexes.getFirst());
    for (int server = 1; server < servers && !together; server++) {
      indexes.add(options.join(cluster.fabric(server), server, 1));
    }
  }

  private void spawn() {
    int count = plan.computeServers() * plan.clients();
    working = count;
    for (int number = 0; number < count; number++) {
      int server = number % plan.computeServers();
      RangeIndex index = indexes.get(server % indexes.size());
      TrialClient client =
          new TrialClient(number, index, keys, history, clock, random.split(), this::isViolation);
      clients.add(client);
      int operations = plan.operations() / count;
      cluster
          .core(server % indexes.size())
          .spawn(
              "client-" + number,
              () -> {
                try {
                  client.run(operations);
                } finally {
                  working--;
                }
              });
    }
    for (int i = 0; i < plan.computeServers() && plan.faults().contains(Fault.CRASH_COMPUTE); i++) {
      int host = i;
      cluster.core(i).spawn("replaces-" + i, () -> replaceWhileOthersWork(host));
    }
    for (int i = 0; i < indexes.size(); i++) {
      if (options.hasMovablePartitions() && options.computeServers() > 1) {
        TrialChanges changing = new TrialChanges(indexes.get(i), keys, random.split());
        cluster.core(i).spawn("changes-" + i, () -> change(changing));
      }
    }
  }

  private void change(TrialChanges changing) {
    for (int i = 0; i < CHANGES_MAX && working > 0; i++) {
      cluster.sleepNanos(random.nextLong(200_000));
      try {
        if (changing.change()) {
          changes++;
        }
      } catch (PandoException e) {
        if (plan.isHarmless()) {
          violations.add("partitions could not be changed: " + e);
        }
      }
    }
  }

  /** Replaces processes that are lost, and goes on with their work, while others do theirs. */
  private void replaceWhileOthersWork(int host) {
    long longest = 1L << random.nextInt(10, NOTICE_DOUBLINGS);
    while (working > 0) {
      cluster.sleepNanos(random.nextLong(longest));
      if (host == firstAlive()) {
        int before = joined.size();
        replaceLost(host);
        joined.stream().skip(before).toList().forEach(each -> work(each.index()));
      }
    }
  }

  private void work(RangeIndex index) {
    int number = clients.size();
    TrialClient client =
        new TrialClient(number, index, keys, history, clock, random.split(), this::isViolation);
    clients.add(client);
    client.run(plan.operations() / (plan.computeServers() * plan.clients()));
  }

  private int firstAlive() {
    return IntStream.range(0, plan.computeServers())
        .filter(host -> !cluster.isCrashed(host))
        .findFirst()
        .orElse(NONE);
  }

  /** Replaces all compute servers that are lost by some on a machine that lives. */
  private void replaceLost(int host) {
    IntStream.range(0, plan.computeServers())
        .filter(cluster::isCrashed)
        .forEach(machine -> fence(host, machine));
    for (int server = 0; server < plan.computeServers(); server++) {
      if (!buried.contains(server) && isLost(server)) {
        fence(host, server);
        replace(server, host);
      }
    }
  }

  /**
   * Fences a compute server that is lost. Where others lived in its process, too, a machine that
   * lives may have its number as a name: of that, no epoch that was in use is fenced.
   */
  private void fence(int host, int lost) {
    Fence fence = new Fence(host, lost, cluster.isCrashed(lost) ? FENCED_BELOW : FIRST_EPOCH);
    if (!fences.contains(fence)) {
      cluster.fabric(host).fence(lost, fence.leastEpoch());
      fences.add(fence);
    }
  }

  /** Returns whether an operation must not fail so: nothing but a memory server breaks nodes. */
  private boolean isViolation(PandoException failure) {
    boolean isBroken =
        failure instanceof CorruptNodeException
            || failure.getCause() instanceof CorruptNodeException;
    return plan.isHarmless() || (isBroken && !plan.faults().contains(Fault.WIPE_MEMORY));
  }

  /**
   * Touches every key once the faults have ended, by a new session of each index, one after the
   * other. Where compute servers are lost, a process that lives joins with them.
   */
  private void findHangs() {
    Set<Long> keysLeft = allKeys();
    int alive = firstAlive();
    if (alive == NONE) {
      return;
    }
    replaceLost(alive);
    if (options.hasMovablePartitions()) {
      takeOverAdded();
    }
    for (int i = 0; i < indexes.size(); i++) {
      if (!cluster.isCrashed(i)) {
        touch(indexes.get(i), i, keysLeft);
      }
    }
    joined.stream()
        .filter(this::isAlive)
        .toList()
        .forEach(each -> touch(each.index(), each.machine(), keysLeft));
  }

  /** Has a process bury a compute server that is lost, or another one join in its place. */
  private void replace(int server, int host) {
    RangeIndex near = indexOn(host);
    if (near != null && random.nextBoolean()) {
      boolean isDone = isDone("burial of compute server " + server, () -> bury(near, server));
      if (!isDone || (!options.isPartitioned() && random.nextBoolean())) {
        if (isDone) {
          buried.add(server);
        }
        return;
      }
    }
    boolean _ = isDone("join with compute server " + server, () -> join(server, host));
  }

  private void bury(RangeIndex near, int server) {
    try {
      near.bury(server);
    } catch (IllegalStateException e) {
      if (!options.isPartitioned() || hasRange(near)) {
        throw e;
      }
      // Its last compute server has been taken out meanwhile: another process joins with the lost.
    }
  }

  private void join(int server, int host) {
    try {
      joined.add(new Joined(options.join(cluster.fabric(host), server, 1), server, host));
    } catch (IllegalArgumentException withoutPartition) {
      // Others had been given its keys before: there is nothing to join with.
    }
  }

  /** Takes a step, and returns whether it was done; if not, it is to be taken again. */
  private boolean isDone(String what, Runnable step) {
    try {
      step.run();
      return true;
    } catch (PandoException e) {
      hangs.add(what, e);
      if (isViolation(e) || plan.isWholeAfterBurials()) {
        violations.add(what + " failed: " + StackText.of(e));
      }
      return false;
    }
  }

  /** Returns an index on a machine that has a compute server there; {@code null} if none has. */
  private @Nullable RangeIndex indexOn(int host) {
    return Stream.concat(
            indexes.stream().skip(host).limit(1),
            joined.stream().filter(each -> each.machine() == host).map(Joined::index))
        .filter(index -> !options.isPartitioned() || hasRange(index))
        .findFirst()
        .orElse(null);
  }

  private static boolean hasRange(RangeIndex index) {
    Partitioning table = index.partitioning();
    return IntStream.range(0, table.servers())
        .anyMatch(range -> index.serves(table.lowOfServer(table.ownerOfRange(range))));
  }

  private boolean isAlive(Joined each) {
    return !cluster.isCrashed(each.machine());
  }

  /** Returns whether no living process has a compute server: another may have taken its number. */
  private boolean isLost(int server) {
    List<RangeIndex> living = living();
    if (!options.hasMovablePartitions() || living.isEmpty()) {
      int machine = indexes.size() == 1 ? 0 : server;
      return cluster.isCrashed(machine)
          && joined.stream().noneMatch(each -> each.server() == server && isAlive(each));
    }
    return living.getFirst().partitions().orElseThrow().readPartitions().hasServer(server)
        && living.stream().noneMatch(index -> index.partitions().orElseThrow().isHere(server));
  }

  private static boolean hosts(RangeIndex index, int server) {
    Partitioning table = index.partitioning();
    return table.hasServer(server) && index.serves(table.lowOfServer(server));
  }

  private List<RangeIndex> living() {
    List<RangeIndex> living = new ArrayList<>();
    joined.stream().filter(this::isAlive).forEach(each -> living.add(each.index()));
    for (int i = 0; i < indexes.size(); i++) {
      if (!cluster.isCrashed(i)) {
        living.add(indexes.get(i));
      }
    }
    return living;
  }

  /**
   * Gives the ranges of compute servers that a process had added before it was lost to neighbours.
   */
  private void takeOverAdded() {
    boolean found = !living().isEmpty();
    while (found) {
      found = false;
      Partitioning table = living().getFirst().partitions().orElseThrow().readPartitions();
      for (int range = 1; range < table.servers() && !found; range++) {
        int below = table.ownerOfRange(range - 1);
        int above = table.ownerOfRange(range);
        found = takeOver(below, above) || takeOver(above, below);
      }
    }
  }

  private boolean takeOver(int lost, int heir) {
    if (!isLost(lost)) {
      return false;
    }
    for (RangeIndex index : living()) {
      if (hosts(index, heir)) {
        if (!index.fabric().hasFenced(lost)) {
          index.fabric().fence(lost, FIRST_EPOCH);
        }
        index.partitions().orElseThrow().takeOver(lost, heir);
        return true;
      }
    }
    return false;
  }

  private void touch(RangeIndex index, int host, Set<Long> keysLeft) {
    int number = ++finalClients;
    TrialClient last =
        new TrialClient(number, index, keys, history, clock, random, this::isViolation);
    clients.add(last);
    cluster.core(host).spawn("last-" + number, () -> last.touch(cluster, keysLeft, hangs));
    long eventsMax = cluster.events() + EVENTS_MAX;
    runToEnd(() -> cluster.runWithoutFaults(2 * NANOS_MAX, eventsMax));
  }

  /** Checks the tree in the pool, and the history with what is in it as a last read. */
  private void audit() {
    for (int i = 0; i < indexes.size(); i++) {
      if (plan.isLossless() && indexes.get(i) instanceof OrcaIndex index) {
        auditCaches(index);
      }
      close(indexes.get(i), cluster.isCrashed(i));
    }
    joined.forEach(each -> close(each.index(), !isAlive(each)));
    long poolBytes = indexes.stream().mapToLong(RangeIndex::poolBytes).sum();
    Tree tree;
    try {
      tree = options.walk(cluster.fabric(Math.max(firstAlive(), 0)));
    } catch (IllegalStateException e) {
      violations.add("the tree cannot be walked: " + StackText.of(e));
      return;
    }
    violations.addAll(tree.problems());
    if (plan.isLossless() && poolBytes != tree.bytes()) {
      violations.add(
          "nodes were leaked: allocated="
              + poolBytes / options.nodeBytes()
              + ", reached="
              + tree.nodes());
    }
    readLast(tree.entries());
    checkHistory();
  }

  private void auditCaches(OrcaIndex index) {
    try {
      violations.addAll(index.audit());
    } catch (RuntimeException | AssertionError e) {
      violations.add("an index could not be audited: " + StackText.of(e));
    }
  }

  /** Closes an index, which writes its cache back, unless its process has crashed. */
  private void close(RangeIndex index, boolean crashed) {
    if (crashed) {
      return;
    }
    try {
      index.close();
    } catch (RuntimeException | AssertionError e) {
      // After a loss an index may fail to write back, and says so.
      boolean isExpected = e instanceof PandoException;
      if (plan.isLossless() || plan.isWholeAfterBurials() || !isExpected) {
        violations.add("an index could not be closed: " + StackText.of(e));
      }
    }
  }
}
