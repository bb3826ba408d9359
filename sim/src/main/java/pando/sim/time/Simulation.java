package pando.sim.time;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import pando.sim.StuckException;

/**
 * Virtual time, in picoseconds from 0. One thread runs events one after the other; clients are
 * virtual threads that only this thread carries. The same seed gives the same run.
 */
public final class Simulation {
  /** Picoseconds of a nanosecond. */
  public static final long NANO = 1_000;

  private static final int ENDING_ROUNDS_MAX = 1_000;
  private static final long ENDING_ROUND_NANOS = 1_000_000;

  private final EventQueue queue;
  private final SplittableRandom random;

  /** Clients that have not ended. */
  private final Queue<Client> clients = new ConcurrentLinkedQueue<>();

  private int living;

  /** The simulation's thread; set during a run. */
  private volatile @Nullable Thread thread;

  private final List<Runnable> startsOfRuns = new ArrayList<>();
  private @Nullable Client running;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private long now;

  /** Written by the simulation's thread alone. */
  private final AtomicLong events = new AtomicLong();

  private long hash = 1;
  private volatile boolean over;

  /**
   * Creates a simulation at time 0.
   *
   * @param seed start of all randomness
   */
  public Simulation(long seed) {
    random = new SplittableRandom(seed);
    queue = new EventQueue(random.nextLong());
  }

  /** Returns the time. */
  public long now() {
    return now;
  }

  /** Returns the number of events so far. May be called from any thread. */
  public long events() {
    return events.get();
  }

  /** Returns a hash of the times of all events so far: equal for equal runs. */
  public long hash() {
    return hash;
  }

  /** Returns a new source of randomness that is derived from the seed. */
  public RandomGenerator fork() {
    return random.split();
  }

  /** Schedules an event for a time, not before now. */
  public void at(long time, Runnable event) {
    assert time >= now : time + " < " + now;
    queue.add(time, event);
  }

  /**
   * Adds a client, which starts now.
   *
   * @param core resource of its processor time; clients may share one
   * @param afterWait run by the client after each wait, which it may end by throwing
   */
  public void spawn(String name, Resource core, Runnable afterWait, Runnable body) {
    spawn(now, name, core, afterWait, body);
  }

  /**
   * Adds a client, which starts at a time, not before now.
   *
   * @param core resource of its processor time; clients may share one
   * @param afterWait run by the client after each wait, which it may end by throwing
   */
  public void spawn(long time, String name, Resource core, Runnable afterWait, Runnable body) {
    Client client = new Client(this, name, core, afterWait, () -> {}, body);
    clients.add(client);
    living++;
    at(time, client::resume);
  }

  /**
   * Makes the thread of a client, which begins when the thread is started: by a client, or outside
   * of runs.
   *
   * @param core resource of its processor time; clients may share one
   * @param afterWait run by the client after each wait, which it may end by throwing
   * @param onStart run by what starts it
   */
  public Thread unstarted(
      String name, Resource core, Runnable afterWait, Runnable onStart, Runnable body) {
    return new Client(this, name, core, afterWait, onStart, body).thread();
  }

  /** Adds a client whose thread was started, from the starting client's time on. */
  void admit(Client client, Runnable begin) {
    clients.add(client);
    living++;
    Client starting = running;
    at(starting == null ? now : starting.now(), begin);
  }

  /** Adds an action for the start of each run from now on, which may add clients. */
  public void addStartOfRun(Runnable start) {
    startsOfRuns.add(start);
  }

  /** Removes an action that {@link #addStartOfRun} added. */
  public void removeStartOfRun(Runnable start) {
    startsOfRuns.remove(start);
  }

  /** Returns whether a run is under way. May be called from any thread. */
  public boolean isRunning() {
    return thread != null;
  }

  /**
   * Ends the run with a failure if the calling thread is neither the simulation's nor the running
   * client.
   *
   * @param woken description of what the thread woke
   * @return whether it is one of them
   */
  public boolean checkThread(String woken) {
    Thread waker = Thread.currentThread();
    boolean ours = hasThread(waker);
    if (!ours) {
      fail(
          new IllegalStateException(
              "a client was woken by a thread outside the simulation: client="
                  + woken
                  + ", thread="
                  + waker.getName()));
    }
    return ours;
  }

  /** Returns the client that runs, or {@code null} outside of clients. */
  public @Nullable Client running() {
    return running;
  }

  /**
   * Runs until every client has ended. May be called again with further clients, unless it threw.
   *
   * @param timeMax virtual time at which the run counts as stuck
   * @param eventsMax number of events from time 0 after which the run counts as stuck
   * @throws StuckException if clients wait and no event will wake them, or a limit was reached
   */
  public void run(long timeMax, long eventsMax) {
    if (over) {
      throw new IllegalStateException("a simulation that ended early does not go on");
    }
    thread = Thread.currentThread();
    try {
      startsOfRuns.forEach(Runnable::run);
      while (living > 0) {
        if (queue.isEmpty()) {
          throw stuck("clients wait, and nothing will wake them");
        }
        if (queue.nextTime() > timeMax || events() >= eventsMax) {
          throw stuck("a limit was met: events=" + events() + ", picos=" + now);
        }
        step();
        rethrow();
      }
    } catch (RuntimeException | Error e) {
      end(e);
      throw e;
    } finally {
      thread = null;
    }
  }

  private void step() {
    now = queue.nextTime();
    Runnable event = queue.remove();
    hash = 31 * hash + now;
    events.lazySet(events.getPlain() + 1);
    event.run();
  }

  private void rethrow() {
    Throwable thrown = failure.get();
    if (thrown instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (thrown instanceof Error error) {
      throw error;
    }
  }

  /** Ends the clients that are left, so that no thread stays behind. */
  private void end(Throwable because) {
    over = true;
    for (int round = 0; !clients.isEmpty() && round < ENDING_ROUNDS_MAX; round++) {
      if (round > 1) {
        // A waiter for a monitor is woken by a thread of the JVM, in real time.
        LockSupport.parkNanos(ENDING_ROUND_NANOS);
      }
      for (Client client : clients) {
        try {
          client.end();
        } catch (RuntimeException | Error e) {
          because.addSuppressed(e);
        }
      }
      clients.removeIf(Client::hasEnded);
    }
    Throwable later = failure.get();
    if (later != null && !later.equals(because)) {
      because.addSuppressed(later);
    }
  }

  /** Returns the stacks of all clients that have not ended. May be called from any thread. */
  public String stacks() {
    return clients.stream()
        .filter(client -> !client.hasEnded())
        .map(Client::describe)
        .collect(Collectors.joining("\n"));
  }

  private StuckException stuck(String why) {
    return new StuckException(why + "\n" + stacks());
  }

  // Called by clients.

  void enter(Client client) {
    running = client;
  }

  void leave(Client client) {
    assert running == client;
    running = null;
  }

  void countEnd(Client client) {
    living--;
    clients.remove(client);
  }

  /** Ends the run. May be called from any thread. */
  void fail(Throwable e) {
    if (!failure.compareAndSet(null, e)) {
      Throwable first = failure.get();
      if (first != null && !first.equals(e)) {
        first.addSuppressed(e);
      }
    }
  }

  /** Returns whether a thread is neither the simulation's nor the running client's. */
  boolean isForeign(Thread other) {
    return !hasThread(other);
  }

  boolean isOver() {
    return over;
  }

  void throwIfOver() {
    if (over) {
      throw new SimulationOver();
    }
  }

  /** Returns whether a thread is the simulation's or the running client's. */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  private boolean hasThread(Thread other) {
    Client client = running;
    return other == thread || (client != null && other == client.thread());
  }
}
