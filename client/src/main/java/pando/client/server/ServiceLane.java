package pando.client.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.channels.SelectionKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.fabric.lane.LaneDuty;
import pando.fabric.lane.LaneLoop;
import pando.fabric.lane.Waiter;
import pando.fabric.wire.Watchdog;

/**
 * A lane of a service: its connections, and the workers that carry out what comes by them.
 *
 * <pre>
 *   the lane's thread: send results, read requests          its workers: virtual threads of the lane
 *          |                                                       |
 *          v                                                       v
 *    connections with operations  ---------- next --------->  carry out with a session, wait for verbs
 *          ^                                                       |
 *          +---- connections with results <------------------------+
 * </pre>
 *
 * <p>A worker takes operations until there are none, so where none of them waits one worker does
 * all. One that finds more than it takes wakes another, which does the same once it runs: that is
 * when the first one waits, or has had its turn. Where the lane carries its threads, all of this is
 * one platform thread. A worker may still give way while it holds the lock, because the JDK takes
 * monitors of its own. Then it needs the lane's thread, so that thread never waits for the lock.
 */
final class ServiceLane implements LaneDuty {
  private static final System.Logger LOG = System.getLogger(ServiceLane.class.getName());

  /**
   * Operations that a worker carries out in a row before others of the lane run, if a connection
   * has a further one. A batch of just as many is not interrupted, so one frame answers it.
   */
  static final int TURN = 64;

  /** Of so many passes that found threads ready, one looks at the sockets. */
  private static final int LOOK_PERIOD = 4;

  /** After so long the next pass looks at the sockets, whatever it found. */
  private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final ServiceFacts facts;
  private final Runnable freePlace;
  private final LaneLoop loop;
  private final ServiceLimits limits;
  private final ServiceCounters counters = new ServiceCounters();
  private final CountDownLatch workersLeft;
  private final CountDownLatch allLeft = new CountDownLatch(1);
  private final Queue<Watchdog.Watched> arrivals = new ConcurrentLinkedQueue<>();

  /** Made once, as a pass must not allocate. */
  private final Consumer<SelectionKey> serveReady = this::serve;

  /** Guards all that follows. Workers neither wait for verbs nor send while they have it. */
  private final ReentrantLock lock = new ReentrantLock();

  private final LongFrames<ClientConnection> longFrames;
  private final Set<ClientConnection> connections = new LinkedHashSet<>();
  private final ArrayDeque<ClientConnection> offered = new ArrayDeque<>();
  private final ArrayDeque<ClientConnection> noted = new ArrayDeque<>();
  private final ArrayDeque<LaneThread> idle = new ArrayDeque<>();

  /** Whether a worker was woken that has not looked for operations since. */
  private boolean isWaking;

  private boolean ending;

  /** Passes that found threads ready. */
  private int busyPasses;

  /** When the sockets were looked at last, or had something. */
  private long looked = System.nanoTime();

  private long checked = System.nanoTime();
  private volatile boolean hasNoted;
  private volatile boolean leaving;

  /** A thread of the lane, with a worker. */
  private final class LaneThread implements Runnable {
    final ServiceWorker<?> worker = facts.index().workers().get();

    /** Waits until there is an operation. */
    final Waiter waiter = new Waiter();

    /** Whose operation its worker has, {@code null} if it has none. */
    @Nullable ClientConnection connection;

    /** Operations since others of the lane had their turn. */
    int operationsInTurn;

    /** Bytes of a long frame that its worker has taken its operation from, 0 if that was none. */
    int held;

    @Override
    public void run() {
      try {
        while (next(this)) {
          worker.carryOut();
        }
      } finally {
        worker.close();
        workersLeft.countDown();
      }
    }
  }

  private ServiceLane(
      ServiceFacts facts, Runnable freePlace, LaneLoop loop, int workers, ServiceLimits limits) {
    this.facts = facts;
    this.freePlace = freePlace;
    this.loop = loop;
    this.limits = limits;
    this.longFrames = new LongFrames<>(limits.longBytes());
    this.workersLeft = new CountDownLatch(workers);
  }

  /**
   * Starts a lane's workers.
   *
   * @param freePlace run when a client is gone
   */
  static ServiceLane start(
      ServiceFacts facts, Runnable freePlace, LaneLoop loop, int workers, ServiceLimits limits) {
    ServiceLane lane = new ServiceLane(facts, freePlace, loop, workers, limits);
    for (int i = 0; i < workers; i++) {
      loop.newThread(lane.new LaneThread()).start();
    }
    loop.perform(lane);
    return lane;
  }

  ServiceCounters counters() {
    return counters;
  }

  /** Takes over a connection whose client is known. Thread-safe. */
  void arrive(Watchdog.Watched connection) {
    arrivals.add(connection);
    loop.wakeUp();
  }

  /**
   * Takes the result of a thread's worker, if it has one, and gives it the next operation; waits
   * until there is one.
   *
   * @return whether there is one, and not the end
   */
  private boolean next(LaneThread thread) {
    lock.lock();
    try {
      takeResult(thread);
      isWaking = false;
      if (thread.operationsInTurn >= TURN && !offered.isEmpty()) {
        endTurn(thread);
      }
      while (!give(thread)) {
        if (ending) {
          return false;
        }
        awaitOperation(thread);
        isWaking = false;
      }
      thread.operationsInTurn++;
      return true;
    } finally {
      lock.unlock();
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // In a lane it is what lets others run.
  private void endTurn(LaneThread thread) {
    thread.operationsInTurn = 0;
    lock.unlock();
    try {
      Thread.yield();
    } finally {
      lock.lock();
    }
  }

  private void awaitOperation(LaneThread thread) {
    thread.operationsInTurn = 0;
    idle.addLast(thread);
    thread.waiter.begin();
    lock.unlock();
    try {
      thread.waiter.await();
    } finally {
      lock.lock();
    }
  }

  private void takeResult(LaneThread thread) {
    ClientConnection connection = thread.connection;
    if (connection != null) {
      thread.connection = null;
      counters.answered(!thread.worker.succeeded());
      try {
        connection.answer(thread.worker);
        queue(connection);
      } catch (RuntimeException | Error e) {
        // No memory for a long response, for example. The client learns that it was not answered.
        forget(connection);
        LOG.log(Level.ERROR, "a result cannot be sent", e);
      } finally {
        release(thread);
      }
    }
  }

  private boolean give(LaneThread thread) {
    boolean given = false;
    while (!given && !offered.isEmpty()) {
      ClientConnection connection = offered.removeFirst();
      connection.isOffered = false;
      if (connection.hasOperation()) {
        given = give(thread, connection);
      }
      queue(connection);
    }
    wakeOne();
    return given;
  }

  private boolean give(LaneThread thread, ClientConnection connection) {
    try {
      thread.held = connection.take(thread.worker);
      thread.connection = connection;
      return true;
    } catch (RuntimeException | Error e) {
      // No memory for a long request, for example. The client learns that it was not answered.
      forget(connection);
      LOG.log(Level.ERROR, "a request cannot be taken", e);
      release(thread);
      return false;
    }
  }

  /** Gives back what a request took. */
  private void release(LaneThread thread) {
    longFrames.release(thread.held);
    thread.held = 0;
    thread.worker.releaseMemory();
    noteWaiting();
  }

  /** Lets another worker look, if there are operations. */
  private void wakeOne() {
    if (!isWaking && !offered.isEmpty() && !idle.isEmpty()) {
      isWaking = true;
      idle.removeLast().waiter.goOn();
    }
  }

  /** Queues a connection for what it has. */
  private void queue(ClientConnection connection) {
    if (connection.hasNews()) {
      note(connection);
    }
    if (!connection.isOffered && connection.hasOperation()) {
      connection.isOffered = true;
      offered.addLast(connection);
    }
    noteWaiting();
  }

  /** Notes connections that have waited for the memory of others' long frames. */
  private void noteWaiting() {
    ClientConnection next = longFrames.next();
    while (next != null) {
      note(next);
      next = longFrames.next();
    }
  }

  /** Notes that a connection has something to be sent or read. */
  private void note(ClientConnection connection) {
    if (!connection.isNoted) {
      connection.isNoted = true;
      noted.addLast(connection);
      hasNoted = true;
      loop.wakeUp();
    }
  }

  @Override
  public boolean isDue() {
    return hasNoted || !arrivals.isEmpty();
  }

  /** Takes the lock, unless a worker that this thread carries has it. */
  private boolean tryLock() {
    if (loop.carriesThreads()) {
      return lock.tryLock();
    }
    lock.lock();
    return true;
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // What the worker waits for may wait for this core.
  public boolean perform(boolean waitsNext) {
    if (!tryLock()) {
      // The loop comes here again once the worker has gone on.
      Thread.yield();
      return false;
    }
    try {
      long now = System.nanoTime();
      admit();
      boolean some = flush();
      some |= looksAtSockets(waitsNext, now) && loop.selector().selectNow(serveReady) > 0;
      if (now - checked > CHECK_NANOS) {
        checked = now;
        forEach(connection -> connection.check(limits, now));
      }
      if (leaving) {
        leave();
      }
      some |= flush();
      wakeOne();
      return some;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot look after connections", e);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns whether a pass looks at the sockets. A look is a call of the system, and a thread that
   * is ready often finds that another has done all, so few short passes of a lane that carries its
   * threads take one; where the JDK does, a pass may be a pause.
   */
  private boolean looksAtSockets(boolean waitsNext, long now) {
    boolean looks =
        !waitsNext
            && (!loop.carriesThreads()
                || ++busyPasses % LOOK_PERIOD == 0
                || now - looked > LOOK_NANOS);
    if (looks) {
      looked = now;
    }
    return looks;
  }

  private void admit() {
    for (Watchdog.Watched arrived = arrivals.poll(); arrived != null; arrived = arrivals.poll()) {
      ClientConnection connection = new ClientConnection(facts, longFrames, arrived);
      connections.add(connection);
      // What came behind its HELLO may have been read with it.
      note(connection);
      attempt(connection, each -> each.register(loop.selector()));
      attempt(connection, ClientConnection::receive);
    }
  }

  /** Sends what workers have noted; returns whether there was anything. */
  private boolean flush() {
    boolean some = !noted.isEmpty();
    hasNoted = false;
    for (int count = noted.size(); count > 0; count--) {
      ClientConnection connection = noted.removeFirst();
      connection.isNoted = false;
      attempt(connection, ClientConnection::flush);
    }
    return some;
  }

  @Override
  public void serve(SelectionKey ready) {
    if (ready.attachment() instanceof ClientConnection connection && tryLock()) {
      try {
        looked = System.nanoTime();
        serve(connection, ready);
        wakeOne();
      } finally {
        lock.unlock();
      }
    }
  }

  private void serve(ClientConnection connection, SelectionKey ready) {
    if (ready.isValid() && ready.isReadable()) {
      attempt(connection, ClientConnection::receive);
    }
    if (ready.isValid() && ready.isWritable()) {
      attempt(connection, ClientConnection::flush);
    }
  }

  /** What is done with a connection, until its client is gone. */
  private interface Step {
    void run(ClientConnection connection) throws IOException;
  }

  private void attempt(ClientConnection connection, Step step) {
    if (connection.isClosed()) {
      return;
    }
    try {
      step.run(connection);
      queue(connection);
    } catch (IOException clientIsGone) {
      forget(connection);
    } catch (RuntimeException | Error e) {
      forget(connection);
      throw e;
    }
  }

  private void forget(ClientConnection connection) {
    connection.close();
    if (connections.remove(connection)) {
      freePlace.run();
    }
    noteWaiting();
  }

  private void forEach(Step step) {
    List<ClientConnection> all = new ArrayList<>(connections);
    all.forEach(connection -> attempt(connection, step));
  }

  private void leave() {
    forEach(connection -> connection.leave("the compute server closes"));
    if (connections.isEmpty() && arrivals.isEmpty() && !ending) {
      ending = true;
      idle.forEach(worker -> worker.waiter.goOn());
      idle.clear();
      allLeft.countDown();
    }
  }

  /** Says goodbye to all clients once what is under way is answered. Thread-safe. */
  void sayGoodbye() {
    leaving = true;
    loop.perform(this);
  }

  /** Waits until all clients are gone, and ends the lane. */
  void close() {
    awaitLeft();
    loop.perform(null);
    loop.close();
  }

  private void awaitLeft() {
    boolean interrupted = false;
    while (allLeft.getCount() > 0 || workersLeft.getCount() > 0) {
      try {
        allLeft.await();
        workersLeft.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
