package pando.index.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Backoff;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.memory.Words;
import pando.fabric.pool.NodeAllocator;
import pando.index.CacheCounters;
import pando.index.PoolPart;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.pool.NodePlaces;
import pando.index.pool.PoolChange;
import pando.index.session.Gate;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/**
 * Compute servers replace places that words of the pool lead to, and others READ the places as long
 * as their operations last: what is there must not change.
 */
@Timeout(60)
class EpochsTest {
  private static final int PROCESSES = 3;
  private static final int MEMORY_SERVERS = 2;
  private static final int LINKS = 8;
  private static final int NODE_BYTES = 64;
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final long EVENTS_MAX = 50_000_000;

  /** Longer than a place rests where all move on. */
  private static final int REST_MILLIS = 250;

  /** A word of the catalogue that leads to a place. */
  private static long link(int number) {
    return GlobalAddress.of(0, 8192 + 64L * number);
  }

  private final List<TestServer> servers = new ArrayList<>();
  private @Nullable Cluster cluster;
  private int violations;

  /** The allocations of each address. */
  private final Map<Long, Integer> uses = new HashMap<>();

  private static final class TestServer extends HostedServer {
    final Fabric fabric;
    final NodeAllocator allocator;
    final Epochs epochs;

    TestServer(int number, Fabric fabric, int moves) {
      super(number, 0, 8);
      this.fabric = fabric;
      this.allocator = new NodeAllocator(fabric.memoryServers(), NODE_BYTES);
      this.epochs = new Epochs(this, fabric, moves);
    }

    Gate.Pass passOf(Worker worker) {
      return pass(worker);
    }

    @Override
    protected void forget(Backoff backoff) {}

    @Override
    protected List<PoolPart> kept() {
      return List.of(epochs.resting());
    }

    @Override
    protected long poolBytes() {
      return 0;
    }

    @Override
    protected long cachedBytes() {
      return 0;
    }

    @Override
    protected void trim(Worker worker, long message) {
      epochs.freeAll(worker, message);
      allocator.trim(worker, message);
    }

    @Override
    protected CacheCounters events() {
      return CacheCounters.NONE;
    }

    @Override
    public void close() {
      try (Client client = new Client(this, 0)) {
        trim(client.worker, client.message);
      }
      stop();
    }
  }

  /** One session. */
  private static final class Client extends WorkerContext {
    private static final int WORD = 0;
    private static final int PLACE = 8;
    private static final int LOCAL_BYTES = PLACE + NODE_BYTES;

    final TestServer server;
    final Gate.Pass pass;
    final SplittableRandom random;

    Client(TestServer server, long seed) {
      LocalMemory local = new LocalMemory();
      local.region(LOCAL_BYTES);
      super(server.fabric, local);
      this.server = server;
      this.pass = server.passOf(worker);
      this.random = new SplittableRandom(seed);
    }

    private long readLink(int number) {
      worker.read(link(number), WORD, Long.BYTES);
      return Words.get(memory, WORD);
    }

    private long readPlace(long address) {
      worker.read(address, PLACE, NODE_BYTES);
      return Words.get(memory, PLACE);
    }

    @Override
    public void abandon(Throwable failure) {}

    @Override
    public void close() {
      server.forget(pass);
      super.close();
    }
  }

  /** Opens a process for each compute server, in virtual time. */
  private Cluster simulate(long seed, int moves) {
    Cluster opened =
        new Cluster(
            ClusterOptions.defaults()
                .withServers(PROCESSES, MEMORY_SERVERS)
                .withBytesPerServer(1 << 20)
                .withChunkBytes(64 << 10)
                .withSeed(seed));
    cluster = opened;
    for (int i = 0; i < PROCESSES; i++) {
      join(new TestServer(i, opened.fabric(i, new ComputeServer(i, 1)), moves));
    }
    return opened;
  }

  private TestServer join(TestServer server) {
    server.epochs.join();
    servers.add(server);
    return server;
  }

  @AfterEach
  void close() {
    List<Runnable> all = new ArrayList<>();
    servers.forEach(server -> all.add(server::close));
    if (cluster != null) {
      all.add(cluster::close);
    }
    Closing.all(all.toArray(Runnable[]::new));
  }

  /** Puts a new place where a link leads to, and frees the one before. */
  private void replace(Client client, int number, long content) {
    Worker worker = client.worker;
    client.pass.enter();
    try {
      long added =
          client.server.allocator.allocate(worker, client.message, number % MEMORY_SERVERS);
      synchronized (uses) {
        uses.merge(added, 1, Integer::sum);
      }
      Words.set(client.memory, Client.PLACE, content);
      worker.write(added, Client.PLACE, NODE_BYTES);
      long found = client.readLink(number);
      long seen;
      while ((seen = worker.cas(link(number), found, added)) != found) {
        found = seen;
      }
      if (found != 0) {
        client.server.epochs.rest(client.server.allocator, found);
      }
    } finally {
      client.pass.exit();
    }
  }

  /** READs a place again and again in one operation. */
  private void watch(Client client, int number, int times, Runnable pause) {
    client.pass.enter();
    try {
      long place = client.readLink(number);
      long first = place == 0 ? 0 : client.readPlace(place);
      for (int i = 0; i < times && place != 0; i++) {
        pause.run();
        if (client.readPlace(place) != first) {
          synchronized (uses) {
            violations++;
          }
          return;
        }
      }
    } finally {
      client.pass.exit();
    }
  }

  private void operate(Cluster simulated, TestServer server, long seed, int operations) {
    try (Client client = new Client(server, seed)) {
      SplittableRandom random = client.random;
      for (int i = 0; i < operations; i++) {
        int number = random.nextInt(LINKS);
        if (random.nextInt(4) == 0) {
          watch(
              client,
              number,
              random.nextInt(20),
              () -> simulated.sleepNanos(random.nextLong(4 * MILLI)));
        } else {
          replace(client, number, seed << 32 | i + 1);
        }
      }
    }
  }

  private int run(long seed, int moves) {
    Cluster simulated = simulate(seed, moves);
    for (TestServer server : servers) {
      for (int i = 0; i < 3; i++) {
        long own = seed * 100 + server.number * 10L + i;
        simulated
            .core(server.number)
            .spawn("client-" + own, () -> operate(simulated, server, own, 200));
      }
    }
    simulated.run(100 * SECOND, EVENTS_MAX);
    return violations;
  }

  private long reused() {
    return uses.values().stream().filter(count -> count > 1).count();
  }

  @Test
  void shouldKeepPlacesWhileOperationsMayKnowThem() {
    long seed = Seeds.of(8801);
    for (int i = 0; i < Seeds.count(5, 100); i++) {
      assertThat(run(seed + i, 2)).as("seed %s", seed + i).isZero();
      assertThat(reused()).as("seed %s", seed + i).isPositive();
      restart();
    }
  }

  @Test
  void shouldFindPlacesThatDoNotRest() {
    assertThat(run(Seeds.of(8801), 0)).isPositive();
  }

  /**
   * An operation begins while a wait is under way that began before, and learns of a place that is
   * freed then: that wait has not noted it, and the next one must.
   */
  @ParameterizedTest
  @CsvSource({"1, true", "2, false"})
  void shouldNeedTwoMoves(int moves, boolean isTooEarly) {
    Cluster simulated = simulate(1, moves);
    spawn(simulated, 0, 0, 0, client -> replace(client, 1, 1));
    spawn(simulated, 1, 0, 0, client -> stay(simulated, client, 300 * MILLI));
    spawn(simulated, 0, 10, 0, client -> replace(client, 1, 2));
    spawn(simulated, 2, 10, 0, client -> replace(client, 2, 3));
    spawn(
        simulated,
        1,
        200,
        0,
        client -> watch(client, 2, 1, () -> simulated.sleepNanos(300 * MILLI)));
    spawn(simulated, 2, 210, 0, client -> replace(client, 2, 4));
    spawn(simulated, 2, 450, 600, client -> replace(client, 2, 5));
    simulated.run(10 * SECOND, EVENTS_MAX);
    assertThat(violations > 0).isEqualTo(isTooEarly);
    assertThat(reused() > 0).isEqualTo(isTooEarly);
  }

  private void spawn(
      Cluster simulated, int process, int fromMillis, int restMillis, Consumer<Client> body) {
    simulated
        .core(process)
        .spawn(
            "client-" + process + "-" + fromMillis,
            () -> {
              simulated.sleepNanos(fromMillis * MILLI);
              try (Client client = new Client(servers.get(process), 1)) {
                body.accept(client);
              }
              simulated.sleepNanos(restMillis * MILLI);
            });
  }

  private static void stay(Cluster simulated, Client client, long nanos) {
    client.pass.enter();
    simulated.sleepNanos(nanos);
    client.pass.exit();
  }

  private void restart() {
    close();
    servers.clear();
    uses.clear();
    violations = 0;
  }

  private void freeOne(Cluster simulated, int process) {
    spawn(
        simulated,
        process,
        0,
        REST_MILLIS,
        client -> {
          replace(client, 0, 1);
          replace(client, 0, 2);
        });
  }

  private long resting(int process) {
    return servers.get(process).epochs.resting().count();
  }

  @Test
  void shouldFreeWhatRestedAndBeIdleThen() {
    Cluster simulated = simulate(1, 2);
    freeOne(simulated, 0);
    simulated.run(SECOND, EVENTS_MAX);
    assertThat(resting(0)).isZero();
    assertThat(servers.getFirst().allocator.freedNodes()).isEqualTo(1);
    long writes = writes();
    spawn(simulated, 0, 1_000, 0, _ -> {});
    simulated.run(10 * SECOND, EVENTS_MAX);
    assertThat(writes() - writes).as("a last word of each").isLessThanOrEqualTo(PROCESSES);
  }

  private long writes() {
    return servers.stream().mapToLong(server -> server.verbs().writes).sum();
  }

  @Test
  void shouldWaitForAnOperationThatDoesNotEnd() {
    Cluster simulated = simulate(1, 2);
    boolean[] rested = new boolean[1];
    spawn(
        simulated,
        1,
        0,
        REST_MILLIS,
        client -> {
          stay(simulated, client, SECOND);
          rested[0] = resting(0) > 0;
        });
    freeOne(simulated, 0);
    simulated.run(10 * SECOND, EVENTS_MAX);
    assertThat(rested).as("for a second").containsExactly(true);
    assertThat(resting(0)).isZero();
  }

  @Test
  void shouldWaitForOneThatIsSilentUntilItIsBuried() {
    Cluster simulated = simulate(1, 2);
    servers.get(2).pause(cluster(simulated));
    freeOne(simulated, 0);
    simulated.run(SECOND, EVENTS_MAX);
    assertThat(resting(0)).isEqualTo(1);
    Fabric fabric = servers.get(1).fabric;
    try (PoolChange change =
        new PoolChange(fabric, NODE_BYTES, new NodePlaces(fabric, NODE_BYTES), 0, _ -> {})) {
      Epochs.bury(change, 2);
    }
    spawn(simulated, 0, REST_MILLIS, 0, _ -> {});
    simulated.run(10 * SECOND, EVENTS_MAX);
    assertThat(resting(0)).isZero();
  }

  @Test
  void shouldNotWaitForOneThatIsFenced() {
    Cluster simulated = simulate(1, 2);
    servers.get(0).fabric.fence(2, 2);
    freeOne(simulated, 0);
    simulated.run(SECOND, EVENTS_MAX);
    assertThat(resting(0)).isZero();
  }

  private static Backoff cluster(Cluster simulated) {
    return attempt -> simulated.settle();
  }

  @Test
  void shouldFreeAllWhereTheLastOneLeaves() {
    Cluster simulated = simulate(1, 2);
    long before = reservedBytes(simulated);
    for (int i = 0; i < PROCESSES; i++) {
      TestServer server = servers.get(i);
      int number = i;
      simulated
          .core(i)
          .spawn(
              "leaves-" + i,
              () -> {
                operate(simulated, server, number, 50);
                server.close();
              });
    }
    simulated.run(100 * SECOND, EVENTS_MAX);
    for (int i = 0; i < PROCESSES; i++) {
      assertThat(resting(i)).as("at %s", i).isZero();
    }
    servers.clear();
    try (var memory = simulated.fabric(0).register(LINKS * 64L);
        Worker worker = simulated.fabric(0).worker(memory)) {
      worker.read(link(0), 0, LINKS * 64);
      long linked = 0;
      for (int i = 0; i < LINKS; i++) {
        linked += Words.get(worker.memory(), 64L * i) == 0 ? 0 : NODE_BYTES;
      }
      assertThat(reservedBytes(simulated) - before).isEqualTo(linked);
    }
  }

  /** Of two compute servers of one process, where one leaves while the other one operates. */
  @ParameterizedTest
  @CsvSource({"false, 1", "true, 0"})
  void shouldWaitForThoseBehindOtherGatesAsItLeaves(boolean sharesGate, long left) {
    Cluster simulated = simulate(1, 2);
    TestServer leaving = servers.getFirst();
    TestServer other = join(new TestServer(PROCESSES, leaving.fabric, 2));
    if (sharesGate) {
      other.gate = leaving.gate;
      leaving.members = () -> List.of(leaving, other);
    }
    // Its epoch does not move on, as if it stayed in an operation all the time.
    other.pause(cluster(simulated));
    freeOne(simulated, 0);
    simulated
        .core(0)
        .spawn(
            "leaves",
            () -> {
              simulated.sleepNanos(MILLI);
              leaving.close();
            });
    simulated.run(10 * SECOND, EVENTS_MAX);
    servers.remove(leaving);
    assertThat(leaving.epochs.resting().count()).isEqualTo(left);
  }

  private static long reservedBytes(Cluster simulated) {
    return simulated.fabric(0).usage().stream().mapToLong(use -> use.usedBytes()).sum();
  }

  @Test
  void shouldKeepPlacesAmongThreads() throws InterruptedException {
    long seed = Seeds.of(8802);
    int operations = Seeds.count(20_000, 200_000);
    try (Fabric fabric = Pools.open(MEMORY_SERVERS, 8 << 20, 1)) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        TestServer server = join(new TestServer(i, fabric, 2));
        for (int j = 0; j < 2; j++) {
          long own = seed + 10L * i + j;
          threads.add(Thread.ofPlatform().start(() -> operateByThread(server, own, operations)));
        }
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(violations).isZero();
      assertThat(reused()).isPositive();
      servers.forEach(TestServer::close);
      servers.clear();
    }
  }

  private void operateByThread(TestServer server, long seed, int operations) {
    try (Client client = new Client(server, seed)) {
      for (int i = 0; i < operations; i++) {
        int number = client.random.nextInt(LINKS);
        if (i % 4 == 0) {
          watch(client, number, 4, Thread::onSpinWait);
        } else {
          replace(client, number, seed << 32 | i + 1);
        }
      }
    }
  }
}
