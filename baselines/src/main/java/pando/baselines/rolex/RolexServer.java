package pando.baselines.rolex;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import pando.baselines.lock.LockOptions;
import pando.baselines.lock.LockTables;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.CacheCounters;
import pando.index.PoolPart;
import pando.index.TaskCounts;
import pando.index.host.HostedServer;
import pando.index.pool.NodePlaces;

/**
 * What the sessions of one compute server share: the models as they are known here, local locks,
 * free runs, and the tasks that retrain.
 */
final class RolexServer extends HostedServer {
  private static final int SYSTEM = 0x801E_0000;
  private static final int BY_CALL = 0x1_0000;
  private static final int DELTA_SHIFT = 10;
  private static final int INCARNATION_SHIFT = 36;
  private static final int INCARNATION_BITS = 20;
  private static final int SERVER_SHIFT = INCARNATION_SHIFT + INCARNATION_BITS;
  private static final int SYNONYMS_MIN = 1 << 6;
  private static final int SYNONYMS_MAX = 1 << 16;

  /** Cached bytes to each synonym leaf that is known. */
  private static final int BYTES_TO_A_SYNONYM = 1 << 10;

  final RolexOptions options;
  final NodePlaces nodePlaces;
  final RolexLeafLayout leaves;
  final RunLayout runs;
  final PageLayout pages;
  final PoolPlaces places;
  final RunAllocator allocator;
  final ModelTable models = new ModelTable();
  final SynonymTable synonyms;
  final LockOptions lockOptions;
  final LockTables locks;

  private final int memoryServers;
  private final AtomicLong stamps;
  private final AtomicInteger turn;
  private final AtomicInteger wakes = new AtomicInteger();
  private final RetrainQueue queue = new RetrainQueue();
  private final List<Retrainer> retrainers = new ArrayList<>();

  /**
   * Creates a compute server that knows no models yet.
   *
   * @param random draws a number that distinguishes its stamps from those of an earlier compute
   *     server of this number
   */
  RolexServer(int number, Fabric fabric, RolexOptions options, RandomGenerator random) {
    super(number, system(options), RolexOptions.SESSIONS_MAX);
    this.options = options;
    this.leaves = new RolexLeafLayout(options.delta());
    this.runs = new RunLayout(leaves.bytes());
    this.pages = new PageLayout(options.nodeBytes());
    this.nodePlaces = new NodePlaces(fabric, options.nodeBytes());
    this.places = new PoolPlaces(nodePlaces, runs, leaves.bytes());
    this.allocator = new RunAllocator(fabric, runs, options.nodeBytes());
    this.synonyms = new SynonymTable(synonymPairs(options.cacheBytes()));
    this.lockOptions = lockOptions(options);
    this.locks = new LockTables(fabric, lockOptions);
    this.memoryServers = fabric.memoryServers();
    this.turn = new AtomicInteger(number);
    long incarnation = random.nextInt(1 << INCARNATION_BITS);
    this.stamps =
        new AtomicLong(((number + 1L) << SERVER_SHIFT) | (incarnation << INCARNATION_SHIFT));
    try {
      for (int i = 0; i < options.retrainers(); i++) {
        retrainers.add(new Retrainer(this, queue, fabric, i));
      }
    } catch (Throwable e) {
      Closing.after(e, super::stop);
      throw e;
    }
  }

  /**
   * Returns the number of the system with these options. Compute servers can use one index together
   * only if it is the same for all.
   */
  static int system(RolexOptions options) {
    int system = options.writesByCall() ? SYSTEM | BY_CALL : SYSTEM;
    return system | (options.delta() << DELTA_SHIFT) | options.epsilon();
  }

  private static LockOptions lockOptions(RolexOptions options) {
    return LockOptions.hierarchical(options.handovers(), options.lockWaitNanos());
  }

  private static int synonymPairs(long cacheBytes) {
    long pairs = Long.highestOneBit(cacheBytes / BYTES_TO_A_SYNONYM);
    return (int) Math.min(Math.max(pairs, SYNONYMS_MIN), SYNONYMS_MAX);
  }

  /** Returns a stamp that the leaves of no model ever had. */
  long nextStamp() {
    return stamps.incrementAndGet();
  }

  /** Returns the memory server whose turn it is to have another run. */
  int nextMemoryServer() {
    return Math.floorMod(turn.getAndIncrement(), memoryServers);
  }

  /** Returns how retraining has gone so far. */
  TaskCounts retrainings() {
    return retrainers.stream().map(Retrainer::counts).reduce(TaskCounts.NONE, TaskCounts::plus);
  }

  /** Asks for the model that starts at a key to be retrained, soon. */
  void retrain(long low) {
    if (options.retraining() && queue.offer(low)) {
      retrainers.get(Math.floorMod(wakes.getAndIncrement(), retrainers.size())).wake();
    }
  }

  /** Asks for a model that could not be retrained: together with the next one. */
  void retrainLater(long low) {
    queue.postpone(low);
  }

  /** Returns how many synonym leaves make a model due. */
  int synonymsMax(int leaves) {
    return Math.max(1, (int) (leaves * options.synonymShare()));
  }

  @Override
  protected long cachedBytes() {
    return models.bytes() + synonyms.bytes();
  }

  @Override
  protected void forget(Backoff backoff) {
    models.clear();
  }

  @Override
  protected long poolBytes() {
    return allocator.bytesInUse();
  }

  @Override
  protected List<PoolPart> kept() {
    return allocator.kept();
  }

  @Override
  protected void trim(Worker worker, long message) {
    allocator.trim(worker, message);
  }

  @Override
  protected CacheCounters events() {
    return CacheCounters.ofNodes(retrainings().done(), 0);
  }

  @Override
  public void pause(Backoff backoff) {
    super.pause(backoff);
    queue.clear();
  }

  @Override
  public void close() {}
}
