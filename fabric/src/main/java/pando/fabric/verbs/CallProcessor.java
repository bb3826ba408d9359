package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;
import pando.fabric.wire.CardAccess;

/** A thread of a memory server that serves the CALLs of its share of the clients, by the card. */
final class CallProcessor implements AutoCloseable {
  private static final int SPINS = 200;
  private static final int YIELDS = 200;

  /** After so many fruitless polls it asks to be told of the next completion, and waits for it. */
  private static final int IDLE_MAX = SPINS + YIELDS;

  /** How often it looks whether it should end. */
  private static final int AWAIT_MILLIS = 100;

  private static final Duration JOIN_MAX = Duration.ofSeconds(5);

  private final SharedReceives receives;
  private final CompletionChannel channel;
  private final CompletionQueue completions;
  private final Map<Integer, ClientWay> clients = new ConcurrentHashMap<>();
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

  private void run(CardAccess.Calls calls) {
    int idle = 0;
    while (!stopped) {
      int count = completions.poll();
      for (int i = 0; i < count; i++) {
        take(i, calls);
      }
      idle = count > 0 ? 0 : pause(idle);
    }
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

  /** Takes a completion: a message, or the end of an answer, of which nothing follows. */
  private void take(int index, CardAccess.Calls calls) {
    int message = (int) completions.number(index);
    if (message == ClientWay.ANSWER) {
      return;
    }
    ClientWay client = begin(index, message);
    receives.post(message);
    if (client != null) {
      client.serve(completions.immediate(index), completions.bytes(index), calls);
    }
  }

  /** Hands a message to its client; returns {@code null} if none came, or its way has ended. */
  private @Nullable ClientWay begin(int index, int message) {
    int queuePair = completions.queuePair(index);
    ClientWay client = clients.get(queuePair);
    if (client == null || completions.status(index) != Status.SUCCESS) {
      return null;
    }
    MemorySegment request = receives.message(message, completions.bytes(index));
    return client.begin(queuePair, request) ? client : null;
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
