package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;
import pando.fabric.wire.CardAccess;

/** A thread of a memory server that serves the CALLs of its share of the clients, by the card. */
final class CallProcessor implements AutoCloseable {
  private static final int SPINS = 200;
  private static final int YIELDS = 200;

  /**
   * After so many fruitless polls it asks for an event at the next completion, and waits for it.
   */
  private static final int IDLE_MAX = SPINS + YIELDS;

  /** How often it looks whether it should end. */
  private static final int AWAIT_MILLIS = 100;

  private static final Duration JOIN_MAX = Duration.ofSeconds(5);

  private final SharedReceives receives;
  private final CompletionChannel channel;
  private final CompletionQueue completions;
  private final Map<Integer, ClientWay> clients = new ConcurrentHashMap<>();
  private final AtomicInteger ways = new AtomicInteger();

  /** Guards completions and arrivals. */
  private final ReentrantLock polling = new ReentrantLock();

  private final Arrivals arrivals = new Arrivals(SharedReceives.MESSAGES_MAX);

  /** The message that is served. */
  private final Arrivals.Arrival arrival = new Arrivals.Arrival();

  private @Nullable Thread thread;
  private volatile boolean stopped;

  /**
   * Creates it, without a thread.
   *
   * @param ways most queue pairs whose messages complete here
   */
  CallProcessor(Device device, SharedReceives receives, int ways) {
    this.receives = receives;
    this.channel = new CompletionChannel(device);
    int entries = SharedReceives.MESSAGES_MAX + ways * ClientWay.ANSWERS_MAX;
    try {
      this.completions = new CompletionQueue(device, entries, channel);
    } catch (RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }

  /** Starts its thread. */
  void start(String name, CardAccess.Calls calls) {
    Thread started = Thread.ofPlatform().name(name).daemon().unstarted(() -> run(calls));
    started.start();
    thread = started;
  }

  /** Returns where messages and answers complete. */
  CompletionQueue completions() {
    return completions;
  }

  void add(int queuePair, ClientWay client) {
    clients.put(queuePair, client);
  }

  void remove(int queuePair) {
    clients.remove(queuePair);
  }

  /** Returns how many clients it has. */
  int ways() {
    return ways.get();
  }

  /** Counts clients that come, or go. */
  void addWays(int count) {
    ways.addAndGet(count);
  }

  /**
   * Destroys a queue pair. Takes the messages that came by it before, as a card may forget them
   * with the queue pair, and their rooms would be lost.
   */
  void destroy(QueuePair queuePair) {
    polling.lock();
    try (queuePair) {
      queuePair.breakUp();
      int count;
      do {
        count = poll();
      } while (count == CompletionQueue.BATCH);
    } finally {
      arrivals.drop(queuePair.number());
      polling.unlock();
    }
  }

  private void run(CardAccess.Calls calls) {
    int idle = 0;
    while (!stopped) {
      int served = 0;
      while (next()) {
        take(calls);
        served++;
      }
      idle = served > 0 ? 0 : pause(idle);
    }
  }

  /** Takes the next message; returns whether there was one. */
  private boolean next() {
    polling.lock();
    try {
      return arrivals.take(arrival) || (poll() > 0 && arrivals.take(arrival));
    } finally {
      polling.unlock();
    }
  }

  /** Notes messages that have come; of the end of an answer nothing follows. */
  private int poll() {
    int count = completions.poll();
    for (int i = 0; i < count; i++) {
      if ((int) completions.number(i) != ClientWay.ANSWER) {
        arrivals.add(completions, i);
      }
    }
    return count;
  }

  /** Waits longer the longer nothing came; returns how long that is now. */
  @SuppressWarnings("ThreadPriorityCheck") // With few cores a client may wait for this one.
  private int pause(int idle) {
    if (idle < SPINS) {
      Thread.onSpinWait();
    } else if (idle < IDLE_MAX) {
      Thread.yield();
    } else if (idle == IDLE_MAX) {
      completions.ask();
    } else {
      channel.await(completions, AWAIT_MILLIS);
      return IDLE_MAX;
    }
    return idle + 1;
  }

  private void take(CardAccess.Calls calls) {
    ClientWay client = begin();
    receives.post(arrival.message);
    if (client != null) {
      client.serve(arrival.immediate, arrival.bytes, calls);
    }
  }

  /** Hands the message to its client; returns {@code null} if none came, or its way has ended. */
  private @Nullable ClientWay begin() {
    ClientWay client = clients.get(arrival.queuePair);
    if (client == null || !arrival.isWhole) {
      return null;
    }
    MemorySegment request = receives.message(arrival.message, arrival.bytes);
    return client.begin(arrival.queuePair, request) ? client : null;
  }

  /** Lets the thread end after the CALL that it serves. */
  void stop() {
    stopped = true;
  }

  /** Waits for the end of the thread; returns whether it came in time. */
  boolean join() {
    return thread == null || Closing.join(thread, JOIN_MAX);
  }

  /** The thread has ended, and no queue pair completes here any more. */
  @Override
  public void close() {
    completions.close();
    channel.close();
  }
}
