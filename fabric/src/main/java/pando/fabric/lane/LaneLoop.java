package pando.fabric.lane;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.Lane;
import pando.fabric.SpinBackoff;
import pando.fabric.memory.Closing;

/**
 * The thread of a lane, and its loop. A pass lets each thread go on that was ready when the pass
 * began, until it waits; then it sends what they gathered, and takes what came. Where nothing is
 * ready and nothing came, it waits.
 *
 * <pre>
 *      woken by verbs, by the timer, by each other      woken by threads outside
 *                     |                                          |
 *                     v                                          v
 *               ready queue  <---- each pass -------------  woken from outside
 *                     |
 *                     v
 *          run each until it waits ----> Completions.poll() ----> timer ----> nothing: await
 * </pre>
 *
 * <p>Where the JDK does not take our scheduler, it carries the threads itself. A thread that waits
 * for a verb then polls for a while, and gives way in between; this loop polls where none of them
 * does, so it takes no core of its own. Both ways, a thread outside of the lane may use a worker of
 * it.
 */
public final class LaneLoop implements Lane {
  private static final System.Logger LOG = System.getLogger("pando.fabric.lane");
  private static final AtomicBoolean SAID_SLOW = new AtomicBoolean();

  /**
   * Not inherited: platform threads that a thread of the lane starts are not of the lane. Virtual
   * ones have its scheduler, but are served as if they were woken from outside.
   */
  private static final ThreadLocal<@Nullable LaneLoop> CURRENT = new ThreadLocal<>();

  /** Passes without an arrival after which the core is offered to other threads each time. */
  private static final int FRUITLESS_PASSES = 16;

  /**
   * How often a thread that the JDK carries polls for its verb before it leaves that to the loop.
   */
  private static final int OWN_POLLS = 32;

  private static final long AWAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  /** Longest wait of the loop while threads that the JDK carries poll, and it has a duty. */
  private static final long POLLED_NANOS_MAX = TimeUnit.MICROSECONDS.toNanos(50);

  private final Object fabric;
  private final String name;
  private final Completions completions;
  private final boolean carries;
  private final Thread thread;
  private final ReadyQueue ready = new ReadyQueue();
  private final Timer timer = new Timer();
  private final Queue<Runnable> wokenOutside = new ConcurrentLinkedQueue<>();

  /** Threads that were made and have not ended. */
  private final Set<Thread> made = ConcurrentHashMap.newKeySet();

  /** Is held while completions are polled: by the loop, or by threads that the JDK carries. */
  private final ReentrantLock polling = new ReentrantLock();

  /** Threads that poll for a verb of theirs. */
  private final AtomicInteger pollers = new AtomicInteger();

  /** Threads that wait for a verb and leave it to others to poll. */
  private final AtomicInteger parked = new AtomicInteger();

  /** Made once, as a wait must not allocate. */
  private final Consumer<SelectionKey> serveReady = this::serve;

  private volatile @Nullable LaneDuty duty;

  private volatile boolean awaits;
  private volatile boolean closing;
  private volatile boolean over;
  private volatile boolean saidFailed;

  private LaneLoop(Object fabric, String name, Completions completions, boolean carries) {
    this.fabric = fabric;
    this.name = name;
    this.completions = completions;
    this.carries = carries;
    this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
  }

  /**
   * Starts a lane.
   *
   * @param fabric whose workers belong to the lane
   * @param completions of its workers' verbs; closed with the lane
   */
  public static LaneLoop start(Object fabric, String name, Completions completions) {
    boolean carries = VirtualThreads.areSchedulable();
    if (!carries && SAID_SLOW.compareAndSet(false, true)) {
      LOG.log(
          System.Logger.Level.WARNING,
          "lanes run on the JDK's scheduler, which may take further cores: start the JVM with"
              + " --add-opens java.base/java.lang=pando.fabric");
    }
    return start(fabric, name, completions, carries);
  }

  /** Starts a lane that carries its threads itself, or leaves that to the JDK. */
  static LaneLoop start(Object fabric, String name, Completions completions, boolean carries) {
    LaneLoop lane = new LaneLoop(fabric, name, completions, carries);
    try {
      lane.thread.start();
      return lane;
    } catch (RuntimeException | Error e) {
      completions.close();
      throw e;
    }
  }

  /** Returns the lane of a fabric that the current thread is of, or {@code null}. */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  public static @Nullable LaneLoop current(Object fabric) {
    LaneLoop lane = CURRENT.get();
    return lane != null && lane.fabric == fabric ? lane : null;
  }

  /** Returns the completions of its workers' verbs. */
  public Completions completions() {
    return completions;
  }

  /**
   * Has the lane's own thread do something in each pass from now on, in place of what it did
   * before. Thread-safe.
   *
   * @param next {@code null} for nothing
   */
  public void perform(@Nullable LaneDuty next) {
    duty = next;
    completions.wakeUp();
  }

  /** Returns a selector whose sockets, when they are ready, end the lane's waits. */
  public Selector selector() {
    return completions.selector();
  }

  /** Returns the backoff for a worker of a lane; of {@code null}, for one that is in no lane. */
  public static Backoff backoff(@Nullable LaneLoop lane) {
    return lane != null && lane.carries ? new LaneBackoff(lane) : new SpinBackoff();
  }

  /** Waits for a verb of this lane, in any thread; the lane's other threads go on meanwhile. */
  public void await(Waiter waiter) {
    if (carries) {
      waiter.await();
    } else {
      pollFor(waiter);
      leaveToTheLoop(waiter);
    }
  }

  /** Lets the loop look for what is new. Thread-safe. */
  public void wakeUp() {
    if (awaits) {
      completions.wakeUp();
    }
  }

  @Override
  public Thread newThread(Runnable body) {
    if (closing) {
      throw new IllegalStateException("lane is closed: name=" + name);
    }
    Runnable inLane = () -> runInLane(body);
    Thread thread =
        carries
            ? VirtualThreads.unstarted(name, this::accept, inLane)
            : Thread.ofVirtual().name(name).unstarted(inLane);
    made.add(thread);
    return thread;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  public void close() {
    if (CURRENT.get() == this) {
      throw new IllegalStateException("a thread ends its own lane: name=" + name);
    }
    closing = true;
    completions.wakeUp();
    LockSupport.unpark(thread);
    Closing.join(thread);
  }

  @SuppressWarnings("ThreadPriorityCheck") // What a lane waits for may wait for this core.
  private void run() {
    try (completions) {
      int fruitless = 0;
      while (!isOver()) {
        fruitless = passSafely() ? 0 : fruitless + 1;
        if (!ready.isEmpty() && fruitless > FRUITLESS_PASSES) {
          Thread.yield();
        }
      }
    }
  }

  /**
   * Takes a pass, and waits where nothing is ready. Whatever fails, the lane goes on, as its
   * threads would wait for ever.
   *
   * @return whether something came
   */
  private boolean passSafely() {
    try {
      boolean some = pass();
      if (ready.isEmpty()) {
        awaitMore();
      }
      return some;
    } catch (RuntimeException | Error e) {
      awaits = false;
      noteFailed(e);
      return false;
    }
  }

  /**
   * Logs the first failure; in another thread, as a thread of the lane may hold a monitor of logs.
   */
  private void noteFailed(Throwable because) {
    if (saidFailed) {
      return;
    }
    saidFailed = true;
    String text = "a pass of a lane failed: name=" + name;
    try {
      Thread.ofPlatform()
          .name(name + "-log")
          .daemon()
          .start(() -> LOG.log(System.Logger.Level.ERROR, text, because));
    } catch (OutOfMemoryError e) {
      // There may be memory when the next pass fails.
      saidFailed = false;
    }
  }

  /** Returns whether this loop carries the lane's threads, and not the JDK. */
  public boolean carriesThreads() {
    return carries;
  }

  /** Returns whether this loop carries the current thread. */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  boolean carriesCurrentThread() {
    return carries && CURRENT.get() == this;
  }

  /** Lets the current thread, which this loop carries, wait. */
  void sleep(Sleeper sleeper, long nanos) {
    timer.add(sleeper, System.nanoTime(), nanos);
    sleeper.waiter.await();
  }

  /**
   * Accepts the continuation of a thread that can go on, from the JDK. Throws nothing but a
   * refusal, as any thread may wake it.
   */
  private void accept(Runnable continuation) {
    if (over) {
      throw new RejectedExecutionException("lane is closed: name=" + name);
    }
    if (isInLane()) {
      ready.add(continuation);
    } else {
      wokenOutside.add(continuation);
      wakeUp();
    }
  }

  /** Lets the current thread, which the JDK carries, poll for a while; the lane's others, too. */
  @SuppressWarnings("ThreadPriorityCheck") // In a virtual thread it is what lets others run.
  private void pollFor(Waiter waiter) {
    pollers.incrementAndGet();
    try {
      for (int polls = 0; waiter.waits() && polls < OWN_POLLS; polls++) {
        Thread.yield();
        if (waiter.waits()) {
          tryPoll();
        }
      }
    } catch (RuntimeException | Error e) {
      noteFailed(e);
    } finally {
      if (pollers.decrementAndGet() == 0 && parked.get() > 0) {
        LockSupport.unpark(thread);
      }
    }
  }

  private void leaveToTheLoop(Waiter waiter) {
    if (waiter.waits()) {
      parked.incrementAndGet();
      if (pollers.get() == 0) {
        LockSupport.unpark(thread);
      }
      waiter.await();
      parked.decrementAndGet();
    }
  }

  /** Polls, unless another thread does. */
  private boolean tryPoll() {
    if (!polling.tryLock()) {
      return false;
    }
    try {
      return completions.poll();
    } finally {
      polling.unlock();
    }
  }

  private void runInLane(Runnable body) {
    CURRENT.set(this);
    try {
      body.run();
    } finally {
      made.remove(Thread.currentThread());
      wakeUp();
      if (closing) {
        LockSupport.unpark(thread);
      }
    }
  }

  /** Returns whether something came. */
  private boolean pass() {
    boolean woken = takeWokenOutside();
    for (int left = ready.size(); left > 0; left--) {
      ready.remove().run();
    }
    boolean completed = carries ? completions.poll() : tryPoll();
    boolean due = !timer.isEmpty() && timer.expire(System.nanoTime());
    LaneDuty own = duty;
    boolean performed = own != null && own.perform(ready.isEmpty() && pollers.get() == 0);
    return woken || completed || due || performed;
  }

  private boolean takeWokenOutside() {
    boolean some = false;
    for (Runnable woken = wokenOutside.poll(); woken != null; woken = wokenOutside.poll()) {
      ready.add(woken);
      some = true;
    }
    return some;
  }

  private void awaitMore() {
    if (pollers.get() > 0) {
      // The last of them unparks this thread if others wait.
      LockSupport.parkNanos(this, duty == null ? AWAIT_NANOS_MAX : POLLED_NANOS_MAX);
      return;
    }
    awaits = true;
    long left = timer.isEmpty() ? AWAIT_NANOS_MAX : timer.nanosLeft(System.nanoTime());
    long nanos = Math.min(left, AWAIT_NANOS_MAX);
    if (nanos > 0 && wokenOutside.isEmpty() && !isDue() && !isEnding()) {
      completions.await(nanos, serveReady);
    }
    awaits = false;
  }

  private void serve(SelectionKey socket) {
    LaneDuty own = duty;
    if (own != null) {
      own.serve(socket);
    }
  }

  private boolean isDue() {
    LaneDuty own = duty;
    return own != null && own.isDue();
  }

  private boolean isOver() {
    if (isEnding()) {
      over = true;
      // A thread that is started meanwhile is either refused or found here.
      over = isEnding() && wokenOutside.isEmpty();
    }
    return over;
  }

  private boolean isEnding() {
    // Some were made and never started, and some refused as they started.
    return closing && made.stream().noneMatch(Thread::isAlive);
  }

  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  private boolean isInLane() {
    return Thread.currentThread() == thread || CURRENT.get() == this;
  }
}
