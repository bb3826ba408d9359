package pando.sim.time;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time, in picoseconds from 0. One thread runs events one after the other; clients are
 * virtual threads that only this thread carries. The same seed gives the same run.
 */
public final class Simulation {
  /** Picoseconds of a nanosecond. */
  public static final long NANO = 1_000;

  private final EventQueue queue;
  private final SplittableRandom random;
  private final List<Client> clients = new ArrayList<>();
  private @Nullable Thread thread;
  private @Nullable Client running;
  private @Nullable Throwable failure;
  private long now;

  /** Written by the simulation's thread alone. */
  private final AtomicLong events = new AtomicLong();

  private long hash = 1;
  private boolean over;

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

  /** Returns the number of events so far; may be asked from any thread. */
  public long events() {
    return events.get();
  }

  /** Returns a hash of the times of all events so far: equal for equal runs. */
  public long hash() {
    return hash;
  }

  /** Returns a new source of randomness, which comes from the seed. */
  public RandomGenerator fork() {
    return random.split();
  }

  /** Has an event take place at a time, not before now. */
  public void at(long time, Runnable event) {
    assert time >= now : time + " < " + now;
    queue.add(time, event);
  }

  /**
   * Adds a client, which starts now.
   *
   * @param core what its processor time is taken from; clients may share one
   */
  public Client spawn(String name, Resource core, Runnable body) {
    Client client = new Client(this, name, core, body);
    clients.add(client);
    at(now, client::resume);
    return client;
  }

  /** Returns the client that runs, or {@code null} outside of clients. */
  public @Nullable Client running() {
    return running;
  }

  /**
   * Runs until every client has ended.
   *
   * @param timeMax virtual time after which the run counts as stuck
   * @param eventsMax events after which it does
   * @throws StuckException where clients wait and nothing will wake them, or a limit was met
   */
  public void run(long timeMax, long eventsMax) {
    thread = Thread.currentThread();
    try {
      while (!allEnded()) {
        if (queue.isEmpty()) {
          throw stuck("clients wait, and nothing will wake them");
        }
        if (queue.nextTime() > timeMax || events() >= eventsMax) {
          throw stuck("a limit was met: events=" + events() + ", picos=" + now);
        }
        step();
        rethrow();
      }
    } finally {
      end();
    }
  }

  private void step() {
    now = queue.nextTime();
    Runnable event = queue.remove();
    hash = 31 * hash + now;
    events.lazySet(events.getPlain() + 1);
    event.run();
  }

  private boolean allEnded() {
    while (!clients.isEmpty() && clients.getLast().hasEnded()) {
      clients.removeLast();
    }
    return clients.isEmpty();
  }

  private void rethrow() {
    Throwable thrown = failure;
    if (thrown instanceof RuntimeException unchecked) {
      throw unchecked;
    }
    if (thrown instanceof Error error) {
      throw error;
    }
  }

  /** Ends clients that are left, so that nothing stays behind. */
  private void end() {
    over = true;
    for (Client client : List.copyOf(clients)) {
      for (int attempt = 0; !client.hasEnded() && attempt < 1_000; attempt++) {
        client.resume();
      }
    }
    clients.clear();
  }

  /** Returns the stacks of all clients that have not ended. May be called from any thread. */
  public String stacks() {
    return List.copyOf(clients).stream()
        .filter(client -> !client.hasEnded())
        .map(Client::describe)
        .collect(Collectors.joining("\n"));
  }

  private StuckException stuck(String why) {
    return new StuckException(why + "\n" + stacks());
  }

  // What clients tell.

  void enter(Client client) {
    running = client;
  }

  void leave(Client client) {
    assert running == client;
    running = null;
  }

  boolean isEntering(Client client) {
    return running == client;
  }

  void continueWith(Client client, Runnable task) {
    enter(client);
    client.goOn(task);
    leave(client);
  }

  void fail(Throwable e) {
    if (failure == null) {
      failure = e;
    }
  }

  void throwIfOver() {
    if (over) {
      throw new SimulationOver();
    }
  }

  @SuppressWarnings("ReferenceEquality") // Threads are what they are.
  void checkThread() {
    Thread current = Thread.currentThread();
    Client client = running;
    if (current != thread && (client == null || current != client.thread())) {
      throw new IllegalStateException(
          "a client was woken by a thread outside the simulation: thread=" + current.getName());
    }
  }
}
