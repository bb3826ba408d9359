package pando.fabric.verbs;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.lane.Completions;
import pando.fabric.lane.LaneLoop;
import pando.fabric.lane.NoCompletions;
import pando.fabric.memory.Closing;

/**
 * The queue pairs that the workers of a lane share, one to each memory server, and the completion
 * queue of them all. Chains gather until the lane polls. Those for one memory server are posted in
 * one piece, as far as its queue pair has room.
 *
 * <pre>
 *   workers --gather--> waiting chains --poll--> queue pair --> memory server
 *      |                (a row for each                               |
 *      |                 memory server)                               |
 *      +<------ the last of a worker's ends <-- completion queue <----+
 * </pre>
 *
 * <p>A verb that fails breaks the queue pair for all. Chains of other workers behind it are
 * flushed. Where the memory server has refused the verb, nothing of them was done, and their
 * workers send them again. A broken queue pair is destroyed when all of its chains have ended.
 *
 * <p>The numbers of verbs say whose they are: 15 bits for the worker's slot, 42 that count chains,
 * 6 for the place in the chain.
 *
 * <p>A thread of the lane may give way while it waits for the lock, and needs the lane's own thread
 * to go on. So polling never waits for the lock; workers and closing threads do. Thread-safe.
 */
final class VerbsLane implements Completions {
  /** Verbs of a queue pair that are under way, at most. */
  private static final int DEPTH = 256;

  /**
   * Queue pairs to a memory server whose verbs the completion queue has room for. Those that have
   * broken may flush while the next one works. That one is made over TCP, and meanwhile the lane
   * polls often.
   */
  private static final int QUEUE_PAIRS = 4;

  private static final int SLOT_SHIFT = 48;
  private static final int SLOTS_MAX = 1 << (Long.SIZE - SLOT_SHIFT - 1);
  private static final long COUNTER_MASK = (1L << SLOT_SHIFT) - 1;

  /** How often it looks for chains that are late. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** After so many polls it looks whether it is time to. */
  private static final int LOOK_POLLS = 64;

  /** Waits in which it gives way, before those in which it sleeps, longer and longer. */
  private static final int YIELDS = 64;

  private static final long SLEEP_NANOS_MIN = 1_000;
  private static final int DOUBLINGS_MAX = 10;

  private final VerbsFabric owner;
  private final CompletionQueue completions;
  private final Row[] rows;
  private final NoCompletions idle = new NoCompletions();

  /** Guards all that follows. */
  private final ReentrantLock lock = new ReentrantLock();

  /** Workers by their slots; {@code null} where one is free. */
  private final List<@Nullable LaneLinks> workers = new ArrayList<>();

  /** Connections that have broken, and have chains that have not ended. */
  private final List<CardConnection> broken = new ArrayList<>();

  private long counter;
  private int polls;
  private long nextLook;
  private boolean closed;

  /** Chains that have not ended. */
  private final AtomicInteger underWay = new AtomicInteger();

  /** Whether chains have gathered since the last poll began. */
  private volatile boolean hasGathered;

  /** Waits in a row in which no verb has completed. */
  private final AtomicInteger waits = new AtomicInteger();

  /** What belongs to a memory server. */
  private record Row(Link link, ArrayDeque<Chain> waiting) {}

  /**
   * Makes what a lane shares, not connected.
   *
   * @param owner when it is closed, what is under way ends
   * @param control by which queue pairs are connected
   * @param lost of all workers of the fabric
   */
  VerbsLane(VerbsFabric owner, Device device, Fabric control, LostServers lost) {
    this.owner = owner;
    this.rows = new Row[control.memoryServers()];
    this.completions = new CompletionQueue(device, QUEUE_PAIRS * DEPTH * rows.length);
    for (int i = 0; i < rows.length; i++) {
      Link link = new Link(device, completions, DEPTH, control, lost, i);
      rows[i] = new Row(link, new ArrayDeque<>());
    }
  }

  /** Returns what a lane of a verbs fabric shares. */
  static VerbsLane of(LaneLoop lane) {
    return (VerbsLane) lane.completions();
  }

  /** Returns the way to a memory server. */
  Link to(int server) {
    return rows[server].link();
  }

  /**
   * Adds a worker.
   *
   * @return its slot
   */
  int add(LaneLinks worker) {
    lock.lock();
    try {
      int free = workers.indexOf(null);
      if (free >= 0) {
        workers.set(free, worker);
        return free;
      }
      if (workers.size() == SLOTS_MAX) {
        throw new IllegalStateException("too many workers in a lane: maximum=" + SLOTS_MAX);
      }
      workers.add(worker);
      return workers.size() - 1;
    } finally {
      lock.unlock();
    }
  }

  /** Removes a worker, of which nothing is under way. */
  void remove(int slot) {
    lock.lock();
    try {
      workers.set(slot, null);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gathers a worker's chains, to be posted when the lane polls.
   *
   * @param latest when they are late
   * @throws IllegalStateException if the lane is closed; nothing will be posted
   */
  void gather(LaneLinks worker, Chain[] chains, int count, long latest) {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("lane is closed");
      }
      worker.begin(chains, count, latest);
      int gathered = 0;
      try {
        for (; gathered < count; gathered++) {
          gather(worker, chains[gathered]);
        }
      } finally {
        if (gathered < count) {
          takeBack(chains, gathered);
        }
      }
      hasGathered = true;
    } finally {
      lock.unlock();
    }
  }

  private void gather(LaneLinks worker, Chain chain) {
    rows[chain.connection().server()].waiting().addLast(chain);
    counter += Chain.MAX;
    chain.start(((long) worker.slot() << SLOT_SHIFT) | (counter & COUNTER_MASK));
    underWay.incrementAndGet();
  }

  private void takeBack(Chain[] chains, int count) {
    for (int i = 0; i < count; i++) {
      rows[chains[i].connection().server()].waiting().remove(chains[i]);
      chains[i].giveUpUnsent();
      underWay.decrementAndGet();
    }
  }

  @Override
  public boolean poll() {
    if (!lock.tryLock()) {
      return false;
    }
    try {
      return !closed && pollLocked();
    } finally {
      lock.unlock();
    }
  }

  private boolean pollLocked() {
    hasGathered = false;
    boolean polled = false;
    try {
      for (Row row : rows) {
        post(row);
      }
      int count = underWay.get() == 0 ? 0 : completions.poll();
      for (int i = 0; i < count; i++) {
        complete(i);
      }
      if (count > 0) {
        waits.set(0);
      }
      if (++polls % LOOK_POLLS == 0 || count == 0) {
        lookForLate();
      }
      polled = true;
      return count > 0;
    } finally {
      if (!polled) {
        // What is under way may never be seen to complete.
        giveUpAll();
      }
    }
  }

  /** Posts the chains that wait, in one piece, as far as there is room. */
  private void post(Row row) {
    Chain first = null;
    Chain last = null;
    for (Chain next = row.waiting().peek(); next != null; next = row.waiting().peek()) {
      CardConnection connection = next.connection();
      if (connection.isBroken()) {
        giveUpUnsent(row.waiting().remove());
        closeIfDone(connection);
        continue;
      }
      if (connection.underWay() + next.size() > DEPTH) {
        break;
      }
      row.waiting().remove();
      connection.addUnderWay(next.size());
      if (last == null) {
        first = next;
      } else {
        last.setNext(next);
      }
      last = next;
    }
    if (first != null) {
      first.post();
    }
  }

  private void complete(int completion) {
    long number = completions.number(completion);
    LaneLinks worker = workers.get((int) (number >>> SLOT_SHIFT));
    Chain chain = worker == null ? null : worker.find(number);
    if (chain == null) {
      return;
    }
    chain.complete(completions, completion);
    CardConnection connection = chain.connection();
    if (connection.isBroken()) {
      abandon(connection);
    }
    if (!chain.isUnderWay()) {
      connection.addUnderWay(-chain.size());
      end(chain);
      closeIfDone(connection);
    }
  }

  /** Destroys a connection that has broken, if all of its verbs have ended. */
  private void closeIfDone(CardConnection connection) {
    if (connection.isBroken() && connection.underWay() == 0) {
      broken.remove(connection);
      connection.close();
    }
  }

  /** Lets the worker of a chain that is complete, or was given up, go on. */
  private void end(Chain chain) {
    underWay.decrementAndGet();
    LaneLinks worker = workers.get((int) (chain.first() >>> SLOT_SHIFT));
    if (worker != null) {
      worker.end();
    }
  }

  /** Has the next verbs go by another connection; this one is destroyed when its chains end. */
  private void abandon(CardConnection connection) {
    to(connection.server()).giveUp(connection);
    if (!broken.contains(connection)) {
      broken.add(connection);
    }
  }

  /** Breaks connections whose verbs should have been answered, or all if the fabric is closed. */
  private void lookForLate() {
    long now = System.nanoTime();
    if (underWay.get() == 0 || now - nextLook < 0) {
      return;
    }
    nextLook = now + LOOK_NANOS;
    boolean all = owner.isClosed();
    for (LaneLinks worker : workers) {
      for (int i = 0; worker != null && i < worker.count(); i++) {
        Chain chain = worker.chain(i);
        if (chain.isUnderWay() && (all || worker.isLate(now))) {
          breakUp(chain.connection(), now);
        }
      }
    }
  }

  private void breakUp(CardConnection connection, long now) {
    abandon(connection);
    if (!connection.isFlushing()) {
      connection.setFlushEnd(now + OwnLinks.FLUSH_NANOS_MAX);
      connection.breakUp();
    } else if (now - connection.flushEnd() > 0) {
      destroy(connection);
    }
  }

  /** Destroys a connection, and gives up all that goes by it. */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  private void destroy(CardConnection connection) {
    broken.remove(connection);
    // Now: the card must not write to local memory when the workers go on.
    connection.close();
    for (LaneLinks worker : workers) {
      for (int i = 0; worker != null && i < worker.count(); i++) {
        Chain chain = worker.chain(i);
        if (chain.isUnderWay() && chain.connection() == connection) {
          giveUp(chain);
        }
      }
    }
  }

  /** Destroys all connections that are used, and gives up all that is under way. */
  private void giveUpAll() {
    List<Chain> all = new ArrayList<>();
    for (LaneLinks worker : workers) {
      for (int i = 0; worker != null && i < worker.count(); i++) {
        if (worker.chain(i).isUnderWay()) {
          all.add(worker.chain(i));
        }
      }
    }
    all.forEach(chain -> abandon(chain.connection()));
    try {
      Closing.all(broken.stream().<Runnable>map(connection -> connection::close).toList());
    } finally {
      broken.clear();
      all.forEach(this::giveUp);
    }
  }

  private void giveUp(Chain chain) {
    if (rows[chain.connection().server()].waiting().remove(chain)) {
      chain.giveUpUnsent();
    } else {
      chain.giveUp();
    }
    end(chain);
  }

  private void giveUpUnsent(Chain chain) {
    chain.giveUpUnsent();
    end(chain);
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // What it waits for may wait for this core.
  public void await(long nanos, Consumer<SelectionKey> ready) {
    if (hasGathered) {
      return;
    }
    int wait = underWay.get() == 0 ? 0 : waits.incrementAndGet();
    if (wait == 0) {
      idle.await(nanos, ready);
    } else if (wait < YIELDS) {
      Thread.yield();
    } else {
      int doublings = Math.min((wait - YIELDS) / 4, DOUBLINGS_MAX);
      idle.await(Math.min(nanos, SLEEP_NANOS_MIN << doublings), ready);
    }
  }

  @Override
  public Selector selector() {
    return idle.selector();
  }

  @Override
  public void wakeUp() {
    idle.wakeUp();
  }

  /** Destroys all queue pairs; workers that wait go on, and no verb goes by this any more. */
  void release() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      hasGathered = false;
    } finally {
      lock.unlock();
    }
    try {
      for (Row row : rows) {
        row.link().close();
      }
    } finally {
      end();
    }
  }

  private void end() {
    lock.lock();
    try {
      giveUpAll();
      // Not if something before failed: what the card still uses is not freed.
      completions.close();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    Closing.all(this::release, () -> owner.forget(this), idle::close);
  }
}
