package pando.fabric.verbs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.SpinBackoff;
import pando.fabric.lane.Completions;
import pando.fabric.lane.LaneLoop;
import pando.fabric.lane.NoCompletions;

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
 * flushed: where the memory server has refused the verb, nothing of them was done, and their
 * workers send them again. A broken queue pair is destroyed when all of its chains have ended.
 *
 * <p>The numbers of verbs say whose they are: 16 bits for the worker's slot, 42 that count chains,
 * 6 for the place in the chain.
 *
 * <p>A thread of the lane may give way while it waits for the lock, and needs the lane's own thread
 * to go on. So that one never waits for the lock. Thread-safe.
 */
final class VerbsLane implements Completions {
  /** Verbs of a queue pair that are under way, at most. */
  private static final int DEPTH = 256;

  /** Queue pairs to a memory server: one that has broken may flush while the next one works. */
  private static final int QUEUE_PAIRS = 2;

  private static final int SLOT_SHIFT = 48;
  private static final int SLOTS_MAX = 1 << (Long.SIZE - SLOT_SHIFT - 1);
  private static final long COUNTER_MASK = (1L << SLOT_SHIFT) - 1;

  /** How often it looks for chains that are late. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final VerbsFabric owner;
  private final CompletionQueue completions;
  private final Row[] rows;
  private final NoCompletions idle = new NoCompletions();
  private final Backoff pause = new SpinBackoff();

  /** Guards all that follows. */
  private final ReentrantLock lock = new ReentrantLock();

  /** Workers by their slots; {@code null} where one is free. */
  private final List<@Nullable LaneLinks> workers = new ArrayList<>();

  /** Connections that have broken, and have chains that have not ended. */
  private final List<CardConnection> broken = new ArrayList<>();

  private long counter;
  private long nextLook;
  private boolean closed;

  /** Chains that have not ended. */
  private final AtomicInteger underWay = new AtomicInteger();

  /** Whether chains have gathered since the last poll began. */
  private volatile boolean hasGathered;

  /** Waits since a verb has completed. */
  private final AtomicInteger waits = new AtomicInteger();

  /** What belongs to a memory server. */
  private record Row(Link link, ArrayDeque<Chain> waiting) {}

  /**
   * Makes what a lane shares, not connected.
   *
   * @param owner when it is closed, what is under way ends
   * @param control by which queue pairs are connected
   */
  VerbsLane(VerbsFabric owner, Device device, Fabric control) {
    this.owner = owner;
    this.rows = new Row[control.memoryServers()];
    this.completions = new CompletionQueue(device, QUEUE_PAIRS * DEPTH * rows.length);
    for (int i = 0; i < rows.length; i++) {
      Link link = new Link(device, completions, DEPTH, control, i);
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
      for (int i = 0; i < count; i++) {
        counter += Chain.MAX;
        chains[i].start(((long) worker.slot() << SLOT_SHIFT) | (counter & COUNTER_MASK));
        rows[chains[i].connection().server()].waiting().addLast(chains[i]);
      }
      underWay.addAndGet(count);
      hasGathered = true;
    } finally {
      lock.unlock();
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
    for (Row row : rows) {
      post(row);
    }
    int count = underWay.get() == 0 ? 0 : completions.poll();
    for (int i = 0; i < count; i++) {
      complete(i);
    }
    if (count > 0) {
      waits.set(0);
    } else if (underWay.get() > 0) {
      lookForLate();
    }
    return count > 0;
  }

  /** Posts the chains that wait, in one piece, as far as there is room. */
  private void post(Row row) {
    Chain first = null;
    Chain last = null;
    for (Chain next = row.waiting().peek(); next != null; next = row.waiting().peek()) {
      CardConnection connection = next.connection();
      if (connection.cause() != null) {
        giveUpUnsent(row.waiting().remove());
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
      post(first);
    }
  }

  private void post(Chain first) {
    boolean posted = false;
    try {
      first.post();
      posted = true;
    } finally {
      if (!posted) {
        destroy(first.connection());
      }
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
    if (!chain.isUnderWay()) {
      CardConnection connection = chain.connection();
      connection.addUnderWay(-chain.size());
      if (connection.cause() != null) {
        retire(connection);
      }
      end(chain);
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

  /** Has the next verbs go by another connection; destroys this one when it has nothing left. */
  private void retire(CardConnection connection) {
    to(connection.server()).giveUp(connection);
    if (connection.underWay() == 0) {
      broken.remove(connection);
      connection.close();
    } else if (!broken.contains(connection)) {
      broken.add(connection);
    }
  }

  /** Breaks connections whose verbs should have been answered, or all if the fabric is closed. */
  private void lookForLate() {
    long now = System.nanoTime();
    if (now - nextLook < 0) {
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
    if (!connection.isBroken()) {
      connection.breakUp();
      connection.setFlushEnd(now + OwnLinks.FLUSH_NANOS_MAX);
    } else if (now - connection.flushEnd() > 0) {
      destroy(connection);
    }
  }

  /** Destroys a connection, and gives up what is under way by it. */
  private void destroy(CardConnection connection) {
    connection.fail(Status.GENERAL);
    to(connection.server()).giveUp(connection);
    broken.remove(connection);
    try {
      connection.close();
    } finally {
      giveUpWaiting(rows[connection.server()]);
      giveUp(connection);
    }
  }

  /** Gives up what waits for connections that have broken. */
  private void giveUpWaiting(Row row) {
    for (int left = row.waiting().size(); left > 0; left--) {
      Chain chain = row.waiting().remove();
      if (chain.connection().cause() == null) {
        row.waiting().addLast(chain);
      } else {
        giveUpUnsent(chain);
      }
    }
  }

  private void giveUpUnsent(Chain chain) {
    chain.giveUpUnsent();
    end(chain);
  }

  /** Gives up what is under way by a connection, or by any; nothing waits to be posted. */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  private void giveUp(@Nullable CardConnection connection) {
    for (LaneLinks worker : workers) {
      for (int i = 0; worker != null && i < worker.count(); i++) {
        Chain chain = worker.chain(i);
        if (chain.isUnderWay() && (connection == null || chain.connection() == connection)) {
          chain.giveUp();
          end(chain);
        }
      }
    }
  }

  @Override
  public void await(long nanos) {
    if (hasGathered) {
      return;
    }
    if (underWay.get() == 0) {
      idle.await(nanos);
    } else {
      pause.pause(waits.incrementAndGet());
    }
  }

  @Override
  public void wakeUp() {
    idle.wakeUp();
  }

  /** Destroys all queue pairs; workers that wait go on, and no verb goes by this any more. */
  void release() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        destroyAll();
      }
    } finally {
      lock.unlock();
    }
  }

  private void destroyAll() {
    try {
      // In this order, and none if one before it failed: what the card still uses is not freed.
      for (Row row : rows) {
        row.link().close();
      }
      broken.forEach(CardConnection::close);
      completions.close();
    } finally {
      for (Row row : rows) {
        row.waiting().forEach(this::giveUpUnsent);
        row.waiting().clear();
      }
      giveUp(null);
    }
  }

  @Override
  public void close() {
    release();
    owner.forget(this);
  }
}
