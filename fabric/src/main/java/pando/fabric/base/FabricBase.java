package pando.fabric.base;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FenceFailedException;
import pando.fabric.Lane;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.lane.Completions;
import pando.fabric.lane.LaneLoop;
import pando.fabric.lane.NoCompletions;
import pando.fabric.layout.Regions;
import pando.fabric.layout.SpaceMessage;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.StackRoom;
import pando.fabric.memory.Words;

/**
 * A fabric in real time: its local memory, its tasks, its randomness, and that it is closed once. A
 * subclass opens workers and ends them.
 */
public abstract class FabricBase implements Fabric {
  private final String name;
  private final SplittableRandom seeds;
  private final @Nullable ComputeServer computeServer;

  /** The least epochs that were made sure of by this fabric. */
  private final AtomicLongArray fenced = new AtomicLongArray(ComputeServer.NUMBER_MAX + 1);

  private final TripTime trip = new TripTime();
  private final Set<ThreadTask> tasks = ConcurrentHashMap.newKeySet();
  private boolean closed;

  /**
   * Creates the fabric.
   *
   * @param name name of the kind of fabric
   * @param seed start of all randomness
   * @param computeServer that it can be fenced by; {@code null} for none
   */
  protected FabricBase(String name, long seed, @Nullable ComputeServer computeServer) {
    this.name = name;
    this.seeds = new SplittableRandom(seed);
    this.computeServer = computeServer;
  }

  /**
   * Opens a worker of this fabric, which is open.
   *
   * @param lane that it belongs to, or {@code null}
   */
  protected abstract Worker open(
      MemorySegment memory, RandomGenerator random, @Nullable LaneLoop lane);

  /**
   * Fences a compute server, see {@link Fabric#fence}.
   *
   * @param leastEpoch in its range, as the number is
   */
  protected abstract void raiseFence(int computeServer, long leastEpoch);

  /** Makes what completes the verbs of a lane's workers. */
  protected Completions completions() {
    return new NoCompletions();
  }

  /** Ends all workers, also those in the middle of a verb, and releases all else; called once. */
  protected abstract void end();

  /** Returns the median of some READs; a fabric whose memory is mapped returns 0 instead. */
  @Override
  public long tripNanos() {
    return trip.nanos(this);
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final RegisteredMemory register(long bytes) {
    return new NativeRegisteredMemory(this, NativeMemory.allocate(bytes));
  }

  @Override
  public final synchronized Worker worker(RegisteredMemory memory) {
    checkOpen();
    if (!(memory instanceof NativeRegisteredMemory own && own.fabric().equals(this))) {
      throw new IllegalArgumentException(
          "memory that this fabric has not registered: fabric=" + name + ", memory=" + memory);
    }
    return open(memory.segment(), seeds.split(), LaneLoop.current(this));
  }

  @Override
  public final synchronized Lane lane(String lane) {
    checkOpen();
    return LaneLoop.start(this, lane, completions());
  }

  @Override
  public final synchronized BackgroundTask background(String task, BooleanSupplier step) {
    checkOpen();
    ThreadTask background = new ThreadTask(this, task, step);
    tasks.add(background);
    try {
      background.start();
      return background;
    } catch (RuntimeException | Error e) {
      tasks.remove(background);
      throw e;
    }
  }

  @Override
  public final long process() {
    return computeServer == null ? Owner.shortName() : computeServer.process();
  }

  @Override
  public final boolean isGone(long process) {
    return computeServer == null
        ? !Owner.isAliveByShortName(process)
        : fenced.get(ComputeServer.numberOf(process)) > ComputeServer.epochOf(process);
  }

  @Override
  public final PoolUsage usage(int server) {
    checkServer(server);
    try (RegisteredMemory memory = register(Worker.CALL_BYTES_MAX);
        Worker worker = worker(memory)) {
      int responseBytes = worker.call(server, SpaceMessage.USAGE, 0, 0);
      assert responseBytes == SpaceMessage.bytes(5);
      return new PoolUsage(
          Words.get(worker.memory(), SpaceMessage.bytes(0)),
          Words.get(worker.memory(), SpaceMessage.bytes(1)),
          Words.get(worker.memory(), SpaceMessage.bytes(2)));
    }
  }

  @Override
  public final void fence(int number, long leastEpoch, IntPredicate isLost) {
    Fences.checkRange(number, leastEpoch);
    checkOpen();
    try {
      raiseFence(number, leastEpoch);
    } catch (FenceFailedException e) {
      e.throwUnlessLost(memoryServers(), isLost);
    }
    fenced.accumulateAndGet(number, leastEpoch, Math::max);
  }

  @Override
  public final boolean hasFenced(int number) {
    return fenced.get(number) > 0;
  }

  @Override
  public final synchronized void close() {
    StackRoom.WORDS.check();
    if (closed) {
      return;
    }
    closed = true;
    // A step that is under way fails at its next verb.
    tasks.forEach(ThreadTask::stop);
    tasks.clear();
    end();
  }

  /** Checks that there is a memory server of a number. */
  protected final void checkServer(int server) {
    Regions.checkServer(server, memoryServers());
  }

  private synchronized void checkOpen() {
    if (closed) {
      throw new IllegalStateException("fabric is closed: name=" + name);
    }
  }

  /** Removes a closed task from the open ones. */
  void forget(ThreadTask task) {
    tasks.remove(task);
  }
}
