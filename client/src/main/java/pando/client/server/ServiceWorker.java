package pando.client.server;

import java.lang.System.Logger.Level;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.fabric.FencedException;
import pando.fabric.InvalidAddressException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.lane.Waiter;
import pando.fabric.server.CallFailedException;
import pando.index.CorruptNodeException;
import pando.index.EntryVisitor;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;

/**
 * A thread of a lane that carries out one operation after the other, with a session of its own. The
 * lane gives it an operation and takes the result; both are in its fields.
 */
final class ServiceWorker implements Runnable, EntryVisitor {
  private static final System.Logger LOG = System.getLogger(ServiceWorker.class.getName());

  /** Operations after which the lane's other threads, and its sockets, have their turn. */
  private static final int TURN = 64;

  private final ServiceLane lane;
  private final RangeIndex index;
  private @Nullable Session session;

  /** Waits until there is an operation. */
  final Waiter waiter = new Waiter();

  /** Whose operation it is, {@code null} if it has none. */
  @Nullable ClientConnection connection;

  /** Kind of the frame that it came by; {@link ClientFrame#OPERATIONS} has one operation. */
  int kind;

  int op;
  int id;
  long sequence;

  /** Key of the operation, or the first of the range. */
  long key;

  /** Value of the operation, or the last key of the range. */
  long value;

  long expected;
  int limit;
  boolean down;

  int outcome;
  long foundKey;
  long foundValue;
  String text = "";

  /** Entries of a page, two words each. */
  long[] page = new long[0];

  int entries;

  ServiceWorker(ServiceLane lane, RangeIndex index) {
    this.lane = lane;
    this.index = index;
  }

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // In a lane it is what lets others run.
  public void run() {
    try {
      int turn = 0;
      while (lane.next(this)) {
        carryOut();
        if (++turn % TURN == 0) {
          Thread.yield();
        }
      }
    } finally {
      close();
    }
  }

  private void close() {
    Session open = session;
    try {
      if (open != null) {
        open.close();
      }
    } catch (RuntimeException | Error e) {
      LOG.log(Level.WARNING, "a session of the service cannot be closed", e);
    } finally {
      lane.ended();
    }
  }

  /** Returns whether the operation was done. */
  boolean succeeded() {
    return outcome <= Outcome.YES || outcome == Outcome.FURTHER;
  }

  private void carryOut() {
    outcome = Outcome.NO;
    foundKey = 0;
    foundValue = 0;
    text = "";
    entries = 0;
    try {
      if (kind == ClientFrame.SCAN) {
        scan(session());
      } else {
        operate(session());
      }
    } catch (Throwable e) {
      fail(e);
    }
  }

  private Session session() {
    Session open = session;
    if (open == null) {
      open = index.session();
      session = open;
    }
    return open;
  }

  private void operate(Session open) {
    switch (op) {
      case Op.GET -> found(open, open.get(key));
      case Op.PUT -> found(open, open.put(key, value));
      case Op.PUT_IF_ABSENT -> stored(open, open.putIfAbsent(key, value));
      case Op.UPDATE -> found(open, open.update(key, value));
      case Op.REMOVE -> found(open, open.remove(key));
      case Op.STORE -> open.store(key, value);
      case Op.DISCARD -> open.discard(key);
      case Op.REPLACE -> compared(open, open.replace(key, expected, value));
      case Op.REMOVE_EXPECTED -> compared(open, open.remove(key, value));
      case Op.FLOOR, Op.CEILING -> findNeighbour(open);
      case Op.SIZE -> foundValue = open.servedSizeEstimate();
      default -> throw new IllegalStateException("was checked: op=" + op);
    }
  }

  private void found(Session open, boolean isThere) {
    if (isThere) {
      outcome = Outcome.YES;
      foundKey = key;
      foundValue = open.value();
    }
  }

  /**
   * Of an absent key the session's value is that of another operation, perhaps of another client.
   */
  private void stored(Session open, boolean wasStored) {
    outcome = wasStored ? Outcome.YES : Outcome.NO;
    foundValue = wasStored ? 0 : open.value();
  }

  private void compared(Session open, boolean wasDone) {
    outcome = wasDone ? Outcome.YES : Outcome.NO;
    foundValue = open.value();
  }

  private void findNeighbour(Session open) {
    boolean isFloor = op == Op.FLOOR;
    try {
      boolean isThere = isFloor ? open.floor(key) : open.ceiling(key);
      if (isThere) {
        outcome = Outcome.YES;
        foundKey = open.key();
        foundValue = open.value();
      }
    } catch (NotServedHereException e) {
      findNeighbourHere(open, isFloor);
    }
  }

  /** Looks as far as the range goes that the key is in. */
  private void findNeighbourHere(Session open, boolean isFloor) {
    Partitioning partitioning = index.partitioning();
    int range = partitioning.rangeOfKey(key);
    long end = isFloor ? partitioning.lowOfRange(range) : partitioning.highOfRange(range);
    takePage(1);
    long visited = isFloor ? open.scanDown(key, end, 1, this) : open.scan(key, end, 1, this);
    if (visited == 1) {
      outcome = Outcome.YES;
      foundKey = page[0];
      foundValue = page[1];
      entries = 0;
    } else if (end != (isFloor ? Long.MIN_VALUE : Long.MAX_VALUE)) {
      outcome = Outcome.FURTHER;
      foundKey = isFloor ? end - 1 : end + 1;
    }
  }

  /** Scans a page, as far as the range goes that its first key is in. */
  private void scan(Session open) {
    takePage(limit);
    long end = value;
    if (index.partitioning().servers() > 1) {
      Partitioning partitioning = index.partitioning();
      int range = partitioning.rangeOfKey(key);
      end =
          down
              ? Math.max(value, partitioning.lowOfRange(range))
              : Math.min(value, partitioning.highOfRange(range));
    }
    long visited = down ? open.scanDown(key, end, limit, this) : open.scan(key, end, limit, this);
    long last = visited == limit ? page[2 * entries - 2] : end;
    if (last != value) {
      outcome = Outcome.YES;
      foundKey = down ? last - 1 : last + 1;
    }
  }

  private void takePage(int most) {
    entries = 0;
    if (page.length < 2 * most) {
      page = Arrays.copyOf(page, 2 * most);
    }
  }

  @Override
  public boolean visit(long entryKey, long entryValue) {
    page[2 * entries] = entryKey;
    page[2 * entries + 1] = entryValue;
    entries++;
    return true;
  }

  private void fail(Throwable e) {
    entries = 0;
    foundKey = 0;
    foundValue = 0;
    text = String.valueOf(e.getMessage());
    outcome =
        switch (e) {
          case NotServedHereException _ -> Outcome.NOT_MINE;
          case PoolFullException _ -> Outcome.FULL;
          case CorruptNodeException corrupt -> {
            foundValue = corrupt.address();
            yield Outcome.CORRUPT;
          }
          case MemoryServerLostException _ -> Outcome.LOST;
          case StalledException _ -> Outcome.STALLED;
          case FencedException _ -> Outcome.FENCED;
          case UnknownOutcomeException _ -> Outcome.UNKNOWN;
          case CallFailedException _ -> Outcome.CALL_FAILED;
          case InvalidAddressException _ -> Outcome.INVALID_ADDRESS;
          case PandoException _ -> Outcome.FAILED;
          default -> failUnexpectedly(e);
        };
    if (outcome == Outcome.NOT_MINE) {
      text = "";
    }
  }

  private int failUnexpectedly(Throwable e) {
    if (index.isClosed()) {
      return Outcome.CLOSED;
    }
    LOG.log(Level.ERROR, () -> "an operation failed: op=" + Op.name(op) + ", key=" + key, e);
    text = e.toString();
    // An error says whether the operation may have happened; of all else that is not known.
    boolean mayHaveHappened =
        e instanceof Error
            ? Arrays.stream(e.getSuppressed()).anyMatch(UnknownOutcomeException.class::isInstance)
            : session != null && kind == ClientFrame.OPERATIONS && !Op.isRead(op);
    return mayHaveHappened ? Outcome.UNKNOWN : Outcome.FAILED;
  }
}
