package pando.index.host;

import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.Worker;
import pando.fabric.pool.Losses;
import pando.fabric.pool.NodeAllocator;
import pando.index.PoolPart;
import pando.index.pool.PoolChange;
import pando.index.session.Gate;
import pando.index.session.Retry;

/**
 * Lets freed places of a compute server rest until no operation of any compute server is under way
 * that may know them. So within one operation, no place that it READ becomes another one's. What
 * outlives an operation, such as a cached pointer, is the system's to check.
 *
 * <p>For systems whose compute servers in one process share a gate. An operation is inside it from
 * before its first READ until after its last; a background task that READs places has a {@linkplain
 * HostedServer#pass pass} for that.
 */
public final class Epochs extends HostedTask<EpochTable, EpochTable> {
  /*
   * Each compute server has an epoch, in a table in the catalogue, and a task that moves it on: it
   * notes which operations are inside the gate, waits until each has ended, and then WRITEs the next
   * epoch. It begins so only when the WRITE before has taken effect. A freed place was unlinked
   * before. So operations that begin later do not find it, and of the others those may know it that
   * are under way.
   *
   *   place freed     all epochs READ, {5, 8}             {6, 8}     {6, 9}     {7, 10}   place is free
   *   -----+------------------+------------------------------+----------+----------+-----------+---->
   *        |                  |      server 0: |- operations of now end -|- again -|
   *        fresh              resting          a wait that began before the READ may have ended in 6
   *
   * Two lists are enough: fresh places wait until those that rest are free, and rest then, with the
   * epochs of that moment. A place so comes back after about 40 to 80 ms.
   *
   * All must move on where any has places that rest; these say so in their words. Each task READs
   * the table every 10 ms then, else every 100 ms.
   *
   * A member that is silent, because it is stopped, or one of its operations does not end, stops
   * reuse, not operations: until it goes on, is known to be gone, or is buried, which makes its word
   * 0. One that is fenced does not count from its burial on; its places stay allocated, as all that
   * a lost compute server had allocated and nothing leads to. One that closes first waits for the
   * others for up to half a second, and leaves then; places that rest even then stay allocated.
   *
   * Where a memory server is lost, its places are lost with it, and the others are freed. Without
   * memory server 0, which has the table, no place comes back.
   */

  /** Times that an epoch has to move on: the first time, it may have begun to before the READ. */
  private static final int MOVES = 2;

  private static final long MOVE_NANOS = 10_000_000;
  private static final long LOOK_NANOS = 100_000_000;
  private static final long CLOSE_NANOS_MAX = 500_000_000;

  /** Looks of one that closes, at most, as clocks may stand still. */
  private static final int CLOSE_LOOKS_MAX = 20_000;

  private final HostedServer server;
  private final Fabric fabric;
  private final int moves;

  /** Freed since the others began to rest. Both are changed under the monitor. */
  private Places fresh = new Places();

  private Places resting = new Places();

  private volatile boolean joined;

  // Of the task.

  /** The epochs since the places that rest began to, {@code null} where they are to be READ. */
  private long @Nullable [] before;

  private long epoch;
  private long written;
  private Gate.@Nullable GracePeriod grace;
  private boolean hurries;

  /** Creates a task that rests until {@link #join}. */
  public Epochs(HostedServer server, Fabric fabric) {
    this(server, fabric, MOVES);
  }

  /**
   * Creates a task that rests until {@link #join}.
   *
   * @param moves times that an epoch has to move on before a place is free
   */
  Epochs(HostedServer server, Fabric fabric, int moves) {
    super(server, fabric, "pando-epochs-" + server.number, () -> new EpochTable(fabric));
    this.server = server;
    this.fabric = fabric;
    this.moves = moves;
  }

  /**
   * Joins, if it has not: before the first operation of the compute server. The caller has the lock
   * of the partition table.
   */
  public void join() {
    if (!joined) {
      try (EpochTable table = new EpochTable(fabric)) {
        written = table.wordOf(epoch, false);
        table.writeUntilDone(server.number, written);
      }
      joined = true;
      wake();
    }
  }

  /**
   * Frees a place. It must be unlinked: no operation that begins after this call may find it.
   * Issues no verb.
   *
   * @param allocator gets the place when it has rested
   * @param address global address of the place
   */
  public void rest(NodeAllocator allocator, long address) {
    boolean isFirst;
    synchronized (this) {
      isFirst = fresh.isEmpty();
      fresh.add(allocator, address);
    }
    if (isFirst) {
      wake();
    }
  }

  /** Returns the freed places that rest. */
  public synchronized PoolPart resting() {
    return new PoolPart(
        "freed nodes, kept here", fresh.size() + resting.size(), fresh.bytes() + resting.bytes());
  }

  /**
   * Frees the places, waiting for other compute servers, before this one leaves: for {@link
   * HostedServer#trim}, before the allocators are trimmed. The task does nothing more. Those for
   * which others do not move on in time stay allocated.
   *
   * @param message local offset of a buffer for the message of a CALL
   */
  public void freeAll(Worker worker, long message) {
    pause(worker.backoff());
    if (resting().count() == 0) {
      return;
    }
    try (EpochTable table = new EpochTable(fabric)) {
      if (joined) {
        table.writeUntilDone(server.number, table.wordOf(epoch, true));
      }
      restAll();
      before = null;
      table.look();
      if (haveOthersMovedOn(table, table.copy(), server.gate.gracePeriod())) {
        free(worker, message);
      }
    }
  }

  private boolean haveOthersMovedOn(EpochTable table, long[] since, Gate.GracePeriod own) {
    long start = table.worker.nanoTime();
    for (int looks = 0; looks < CLOSE_LOOKS_MAX; looks++) {
      table.look();
      // The compute servers behind this gate may move on no more; the grace period is for them.
      if (own.hasEnded() && table.hasMovedOnSince(since, moves, server::sharesGateWith)) {
        return true;
      }
      if (table.worker.nanoTime() - start > CLOSE_NANOS_MAX) {
        return false;
      }
      table.worker.backoff().pause(looks);
    }
    return false;
  }

  /** Marks a compute server that is lost and fenced as away: for {@link HostedIndex#bury}. */
  public static void bury(PoolChange change, int lost) {
    EpochTable.bury(change, lost);
  }

  // The task.

  @Override
  protected EpochTable open(EpochTable table) {
    return table;
  }

  /** Goes on: a wake during the pause had no effect. */
  @Override
  public void resume() {
    super.resume();
    wake();
  }

  @Override
  protected boolean step() {
    if (joined) {
      attempt(this::look);
      wakeAfter(hurries ? MOVE_NANOS : LOOK_NANOS);
    }
    return false;
  }

  private boolean look() {
    EpochTable table = context();
    try {
      restAllIfNoneRests();
      table.look();
      if (before == null) {
        before = table.copy();
      } else if (table.hasMovedOnSince(before, moves, _ -> false)) {
        free(table.worker, table.message);
      }
      moveOn(table);
      return true;
    } catch (PandoException e) {
      // Then its word counts as that of one gone, and its operations fail.
      joined = !Retry.isFenced(e);
      throw e;
    }
  }

  private void moveOn(EpochTable table) {
    boolean waits = resting().count() > 0;
    hurries = waits || table.isAnyWaiting();
    if (grace == null && hurries) {
      grace = server.gate.gracePeriod();
    }
    boolean ends = grace != null && grace.hasEnded();
    long word = table.wordOf(ends ? epoch + 1 : epoch, waits);
    if (word != written) {
      // If it fails, the same word is written at the next look.
      table.write(server.number, word);
      written = word;
    }
    if (ends) {
      epoch++;
      grace = null;
    }
  }

  private synchronized void restAllIfNoneRests() {
    if (resting.isEmpty() && !fresh.isEmpty()) {
      restAll();
      before = null;
    }
  }

  private synchronized void restAll() {
    if (resting.isEmpty()) {
      Places empty = resting;
      resting = fresh;
      fresh = empty;
    } else {
      resting.addAll(fresh);
    }
  }

  /** Frees all places that rest, also where a memory server is lost that had some. */
  private void free(Worker worker, long message) {
    Losses losses = new Losses();
    while (true) {
      NodeAllocator allocator;
      long address;
      synchronized (this) {
        if (resting.isEmpty()) {
          break;
        }
        allocator = resting.lastAllocator();
        address = resting.removeLast();
      }
      losses.defer(() -> allocator.free(worker, message, address));
    }
    losses.rethrow();
  }

  /** Leaves: no operation of the compute server is under way, and none begins. */
  @Override
  protected void end() {
    if (joined) {
      joined = false;
      context().leave(server.number);
    }
  }
}
