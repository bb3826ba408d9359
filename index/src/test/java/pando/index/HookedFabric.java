package pando.index;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.BackgroundTask;
import pando.fabric.Backoff;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.Lane;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolUsage;
import pando.fabric.PoolView;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;

/**
 * A fabric in which a test takes the place of chosen verbs: it lets them take effect in whole, in
 * part or not at all, lets them fail, and has other sessions act before, between and after them.
 * What the hook itself does is not hooked. For one thread, to which 64 bytes land as one; for
 * several, make it {@link #withThreads}.
 */
public final class HookedFabric implements Fabric {
  private static final int LINE_BYTES = 64;
  private static final int NONE = -1;

  private final Fabric fabric;
  private Predicate<VerbList> awaited = verbs -> false;
  private Hook hook = Posting::post;
  private int hooks;
  private int times;
  private int strikes;
  private int onChipBytes;
  private int atomicityBytes = LINE_BYTES;
  private final List<BooleanSupplier> steps = new ArrayList<>();
  private boolean byHand;
  private boolean drains;
  private boolean areViewed;
  private boolean simulated;
  private final AtomicLong skippedNanos = new AtomicLong();
  private final Set<RegisteredMemory> memories = ConcurrentHashMap.newKeySet();
  private volatile int lost = NONE;
  private @Nullable Supplier<? extends Error> atTransition;
  private int pauses = NONE;
  private Runnable atPause = () -> {};
  private @Nullable Runnable atWorker;

  /** Hooks nothing yet. */
  public HookedFabric(Fabric fabric) {
    this.fabric = fabric;
    Capabilities real = fabric.capabilities();
    this.onChipBytes = real.onChipBytes();
    this.simulated = real.simulated();
  }

  /** Makes the on-chip regions smaller than they are, so that nodes share the words of locks. */
  public HookedFabric withOnChipBytes(int bytes) {
    onChipBytes = bytes;
    return this;
  }

  /** Promises no more than the real fabric does to threads that READ while others WRITE. */
  public HookedFabric withThreads() {
    atomicityBytes = fabric.capabilities().atomicityBytes();
    return this;
  }

  /** Lets workers look at mapped memory where it is; hooks meet a READ then. */
  public HookedFabric withViews() {
    areViewed = true;
    return this;
  }

  /**
   * Has tasks of compute servers do nothing by themselves: {@link #runTasks} runs them, but not
   * those that go by the clock.
   */
  public HookedFabric withTasksByHand() {
    byHand = true;
    return this;
  }

  /** Claims to be a simulator, so that protocols that lose keys may run. */
  public HookedFabric withSimulated() {
    simulated = true;
    return this;
  }

  /** Has tasks of DEFT take part in drains; hooks strike their verbs, too. */
  public HookedFabric withDrains() {
    drains = true;
    return this;
  }

  /** Runs the tasks of compute servers, in turn, until none has work to do. */
  public void runTasks() {
    boolean works = true;
    while (works) {
      works = false;
      for (BooleanSupplier step : List.copyOf(steps)) {
        works |= step.getAsBoolean();
      }
    }
  }

  /** What happens in place of verbs. */
  @FunctionalInterface
  public interface Hook {
    /** Happens. */
    void happen(Posting posting);
  }

  /** Takes the place of the next verbs of a kind, once. */
  public void hookNext(Predicate<VerbList> verbs, Hook instead) {
    hookTimes(1, verbs, instead);
  }

  /** Takes the place of the next verbs of a kind, again and again. */
  public void hookEach(Predicate<VerbList> verbs, Hook instead) {
    hookTimes(Integer.MAX_VALUE, verbs, instead);
  }

  private void hookTimes(int most, Predicate<VerbList> verbs, Hook instead) {
    awaited = verbs;
    hook = instead;
    times = most;
    hooks++;
    strikes = 0;
  }

  /**
   * Lets so many WRITEs take effect, by whichever worker, and throws then, once: what is behind
   * them in their list is lost.
   */
  public void breakAfter(int writes, Supplier<? extends RuntimeException> failure) {
    int[] left = {writes};
    hookNext(
        verbs -> {
          boolean breaks = isWrite(verbs) && left[0] <= verbs.size();
          left[0] -= isWrite(verbs) && !breaks ? verbs.size() : 0;
          return breaks;
        },
        posting -> {
          posting.post(0, left[0]);
          throw failure.get();
        });
  }

  private static boolean isWrite(VerbList verbs) {
    return verbs.size() > 0 && verbs.kind(0) == Kind.WRITE;
  }

  /** Has a memory server be lost from now on. */
  public void lose(int memoryServer) {
    lost = memoryServer;
  }

  private void checkNotLost(int memoryServer) {
    if (memoryServer == lost) {
      throw new MemoryServerLostException("lost by a test: server=" + memoryServer);
    }
  }

  /** Returns the number of local memories that are registered and not closed. */
  public int openMemories() {
    return memories.size();
  }

  /** Has the next transition of a local lock or cache state fail, once. */
  public void failAtNextTransition(Supplier<? extends Error> failure) {
    atTransition = failure;
  }

  private void transition() {
    Supplier<? extends Error> failure = atTransition;
    if (failure != null) {
      atTransition = null;
      throw failure.get();
    }
  }

  /** Has something happen, once, as soon as a session waits after so many attempts. */
  public void hookPause(int attempts, Runnable happening) {
    pauses = attempts;
    atPause = happening;
  }

  private void pause(int attempt) {
    if (attempt == pauses) {
      pauses = NONE;
      atPause.run();
    }
  }

  /** Has something happen, once, before the next worker is made. */
  public void hookWorker(Runnable happening) {
    atWorker = happening;
  }

  /** Has all workers' clocks go forward. */
  public void letTimePass(long nanos) {
    skippedNanos.addAndGet(nanos);
  }

  /** Lets all verbs be as they are. Returns how often the hook took their place. */
  public int unhook() {
    times = 0;
    return strikes;
  }

  private long issue(Posting posting) {
    if (times == 0 || !awaited.test(posting.verbs)) {
      posting.post();
      return posting.result;
    }
    int left = times - 1;
    int number = hooks;
    times = 0;
    strikes++;
    try {
      hook.happen(posting);
    } finally {
      if (hooks == number) {
        times = left;
      }
    }
    return posting.result;
  }

  /** Verbs that a worker is about to post; none for a CALL. */
  public static final class Posting {
    private final Worker worker;
    private final VerbList verbs;
    private final LongSupplier whole;
    private long result;

    private Posting(Worker worker, VerbList verbs, LongSupplier whole) {
      this.worker = worker;
      this.verbs = verbs;
      this.whole = whole;
    }

    /** Returns them. */
    public VerbList verbs() {
      return verbs;
    }

    /** Returns whether this is a CALL. */
    public boolean isCall() {
      return verbs.size() == 0;
    }

    /** Lets the verbs take effect. */
    public void post() {
      result = whole.getAsLong();
    }

    /** Lets some of a list of READs and WRITEs take effect, one after the other. */
    public void post(int from, int to) {
      for (int i = from; i < to; i++) {
        post(i, 0, verbs.length(i));
      }
    }

    /** Lets the first verbs of a list take effect, whatever they are; a CALL is one verb. */
    public void postFirst(int count) {
      if (count == Math.max(verbs.size(), 1)) {
        post();
        return;
      }
      VerbList first = new VerbList();
      for (int i = 0; i < count; i++) {
        add(first, i);
      }
      if (count > 0 && isOfOneServer(first)) {
        worker.post(first);
      } else if (count > 0) {
        worker.scatter(first);
      }
    }

    private static boolean isOfOneServer(VerbList list) {
      boolean ofOne = true;
      for (int i = 1; i < list.size(); i++) {
        ofOne &= GlobalAddress.server(list.remote(i)) == GlobalAddress.server(list.remote(0));
      }
      return ofOne;
    }

    private void add(VerbList list, int i) {
      long remote = verbs.remote(i);
      long local = verbs.local(i);
      long first = verbs.operand(i, 0);
      long second = verbs.operand(i, 1);
      switch (verbs.kind(i)) {
        case READ -> list.read(remote, local, verbs.length(i));
        case WRITE -> list.write(remote, local, verbs.length(i));
        case CAS -> list.cas(remote, first, second, local);
        case FAA -> list.faa(remote, first, local);
        case MASKED_CAS ->
            list.maskedCas(remote, first, second, verbs.operand(i, 2), verbs.operand(i, 3), local);
        case MASKED_FAA -> list.maskedFaa(remote, first, second, local);
        case MASKED_CAS_16 -> list.maskedCas16(remote, local);
      }
    }

    /** Lets a part of a READ or WRITE take effect. */
    public void post(int index, int offset, int bytes) {
      long remote = verbs.remote(index) + offset;
      long local = verbs.local(index) + offset;
      switch (verbs.kind(index)) {
        case READ -> worker.read(remote, local, bytes);
        case WRITE -> worker.write(remote, local, bytes);
        default -> throw new AssertionError(verbs.kind(index));
      }
    }
  }

  @Override
  public String name() {
    return fabric.name();
  }

  /** As if there were a network, so that all caches have a use. */
  @Override
  public long tripNanos() {
    return 2_000;
  }

  @Override
  public Capabilities capabilities() {
    Capabilities real = fabric.capabilities();
    return new Capabilities(
        atomicityBytes,
        real.cas16(),
        onChipBytes,
        real.remoteProcessor(),
        real.fences(),
        true,
        simulated);
  }

  @Override
  public int memoryServers() {
    return fabric.memoryServers();
  }

  @Override
  public long dramBytes(int server) {
    return fabric.dramBytes(server);
  }

  @Override
  public RegisteredMemory register(long bytes) {
    return new CountedMemory(fabric.register(bytes));
  }

  private final class CountedMemory implements RegisteredMemory {
    private final RegisteredMemory memory;

    CountedMemory(RegisteredMemory memory) {
      this.memory = memory;
      memories.add(this);
    }

    @Override
    public MemorySegment segment() {
      return memory.segment();
    }

    @Override
    public void close() {
      memories.remove(this);
      memory.close();
    }
  }

  @Override
  public Worker worker(RegisteredMemory memory) {
    Runnable happening = atWorker;
    if (happening != null) {
      atWorker = null;
      happening.run();
    }
    RegisteredMemory real = memory instanceof CountedMemory counted ? counted.memory : memory;
    return new HookedWorker(fabric.worker(real));
  }

  @Override
  public Lane lane(String name) {
    return fabric.lane(name);
  }

  @Override
  public BackgroundTask background(String name, BooleanSupplier step) {
    if (name.startsWith("pando-sweeper")
        || (name.startsWith("pando-epochs") && !byHand)
        || (name.startsWith("pando-drainer") && !drains)) {
      // They go by the clock: hooks would strike their verbs in place of a session's.
      return new TaskByHand(() -> false);
    }
    return byHand ? new TaskByHand(step) : fabric.background(name, step);
  }

  private final class TaskByHand implements BackgroundTask {
    private final BooleanSupplier step;

    TaskByHand(BooleanSupplier step) {
      this.step = step;
      steps.add(step);
    }

    @Override
    public void wake() {}

    @Override
    public void wakeAfter(long nanos) {}

    @Override
    public void close() {
      steps.remove(step);
    }
  }

  @Override
  public long process() {
    return fabric.process();
  }

  @Override
  public boolean isGone(long process) {
    return fabric.isGone(process);
  }

  @Override
  public boolean hasFenced(int computeServer) {
    return fabric.hasFenced(computeServer);
  }

  @Override
  public void fence(int computeServer, long leastEpoch, IntPredicate isLost) {
    fabric.fence(computeServer, leastEpoch, isLost);
  }

  @Override
  public PoolUsage usage(int server) {
    return fabric.usage(server);
  }

  @Override
  public void close() {
    fabric.close();
  }

  private final class HookedBackoff implements Backoff {
    private final Backoff backoff;

    HookedBackoff(Backoff backoff) {
      this.backoff = backoff;
    }

    @Override
    public void pause(int attempt) {
      HookedFabric.this.pause(attempt);
      backoff.pause(attempt);
    }

    @Override
    public void pauseBriefly(int attempt) {
      HookedFabric.this.pause(attempt);
      backoff.pauseBriefly(attempt);
    }

    @Override
    public long nanoTime() {
      return backoff.nanoTime() + skippedNanos.get();
    }

    @Override
    public void transition() {
      HookedFabric.this.transition();
      backoff.transition();
    }
  }

  private final class HookedWorker implements Worker {
    private final Worker worker;
    private final Backoff backoff;

    HookedWorker(Worker worker) {
      this.worker = worker;
      this.backoff = new HookedBackoff(worker.backoff());
    }

    private long issue(VerbList verbs, LongSupplier whole) {
      for (int i = 0; i < verbs.size(); i++) {
        checkNotLost(GlobalAddress.server(verbs.remote(i)));
      }
      return HookedFabric.this.issue(new Posting(worker, verbs, whole));
    }

    private void issue(VerbList verbs, Runnable whole) {
      issue(
          verbs,
          () -> {
            whole.run();
            return 0;
          });
    }

    @Override
    public MemorySegment memory() {
      return worker.memory();
    }

    @Override
    public void read(long remote, long local, int bytes) {
      issue(new VerbList().read(remote, local, bytes), () -> worker.read(remote, local, bytes));
    }

    @Override
    public boolean view(long remote, int bytes, PoolView view) {
      LongSupplier whole = () -> worker.view(remote, bytes, view) ? 1 : 0;
      return areViewed && issue(new VerbList().read(remote, 0, bytes), whole) != 0;
    }

    @Override
    public void write(long remote, long local, int bytes) {
      issue(new VerbList().write(remote, local, bytes), () -> worker.write(remote, local, bytes));
    }

    @Override
    public long cas(long remote, long expected, long desired) {
      return issue(
          new VerbList().cas(remote, expected, desired, 0),
          () -> worker.cas(remote, expected, desired));
    }

    @Override
    public long faa(long remote, long addend) {
      return issue(new VerbList().faa(remote, addend, 0), () -> worker.faa(remote, addend));
    }

    @Override
    public long maskedCas(long remote, long compare, long compareMask, long swap, long swapMask) {
      return issue(
          new VerbList().maskedCas(remote, compare, compareMask, swap, swapMask, 0),
          () -> worker.maskedCas(remote, compare, compareMask, swap, swapMask));
    }

    @Override
    public long maskedFaa(long remote, long addend, long boundaries) {
      return issue(
          new VerbList().maskedFaa(remote, addend, boundaries, 0),
          () -> worker.maskedFaa(remote, addend, boundaries));
    }

    @Override
    public boolean maskedCas16(long remote, long operands) {
      return issue(
              new VerbList().maskedCas16(remote, operands),
              () -> worker.maskedCas16(remote, operands) ? 1 : 0)
          != 0;
    }

    @Override
    public void post(VerbList list) {
      issue(list, () -> worker.post(list));
    }

    @Override
    public void scatter(VerbList list) {
      issue(list, () -> worker.scatter(list));
    }

    @Override
    public int call(int server, int function, long message, int requestBytes) {
      checkNotLost(server);
      return (int)
          issue(new VerbList(), () -> worker.call(server, function, message, requestBytes));
    }

    @Override
    public VerbCounters counters() {
      return worker.counters();
    }

    @Override
    public Backoff backoff() {
      return backoff;
    }

    @Override
    public long nanoTime() {
      return worker.nanoTime() + skippedNanos.get();
    }

    @Override
    public RandomGenerator random() {
      return worker.random();
    }

    @Override
    public void close() {
      worker.close();
    }
  }
}
