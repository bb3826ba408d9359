package pando.bench.jmh;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import pando.fabric.lane.Completions;
import pando.fabric.lane.LaneLoop;
import pando.fabric.lane.NoCompletions;
import pando.fabric.lane.Waiter;

/** Verbs that complete a fixed time after they were sent, in place of a network card's. */
final class ModelVerbs implements Completions {
  private final long verbNanos;
  private final NoCompletions idle = new NoCompletions();
  private final ArrayDeque<Verb> underWay = new ArrayDeque<>();

  ModelVerbs(long verbNanos) {
    this.verbNanos = verbNanos;
  }

  /** Makes the verbs of the current thread, one after the other. */
  Verb verb(LaneLoop lane) {
    return new Verb(lane);
  }

  @Override
  public synchronized boolean poll() {
    boolean some = false;
    long now = System.nanoTime();
    while (!underWay.isEmpty() && now - underWay.getFirst().end >= 0) {
      Verb verb = underWay.removeFirst();
      verb.waiter.goOn();
      some = true;
    }
    return some;
  }

  /** Polls on, as one does a card, unless nothing is under way. */
  @Override
  public void await(long nanos, Consumer<SelectionKey> ready) {
    if (isIdle()) {
      idle.await(nanos, ready);
    }
  }

  @Override
  public void wakeUp() {
    idle.wakeUp();
  }

  @Override
  public Selector selector() {
    return idle.selector();
  }

  @Override
  public void close() {
    idle.close();
  }

  private synchronized boolean isIdle() {
    return underWay.isEmpty();
  }

  private synchronized void send(Verb verb) {
    verb.end = System.nanoTime() + verbNanos;
    underWay.addLast(verb);
  }

  /** A verb of a thread. */
  final class Verb {
    private final LaneLoop lane;
    private final Waiter waiter = new Waiter();
    private long end;

    Verb(LaneLoop lane) {
      this.lane = lane;
    }

    /** Sends the verb and waits for it. */
    void run() {
      waiter.begin();
      send(this);
      lane.wakeUp();
      lane.await(waiter);
    }
  }
}
