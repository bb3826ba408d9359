package pando.client.server;

import java.util.Arrays;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.index.EntryVisitor;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Session;

/** Carries out operations on words. */
final class WordWorker extends ServiceWorker<Session> implements EntryVisitor {
  private final RangeIndex index;

  /** Key of the operation, or the first of the range. */
  private long key;

  /** Value of the operation, or the last key of the range. */
  private long value;

  private long expected;
  private int limit;
  private boolean down;

  /** Entries of a page, two words each. */
  private long[] page = new long[0];

  private int entries;

  WordWorker(RangeIndex index) {
    super(index, index::session);
    this.index = index;
  }

  /** Returns the key of the operation, or the first of the range. */
  @Override
  long key() {
    return key;
  }

  @Override
  boolean takes(int requestKind) {
    return !ClientFrame.isOfStrings(requestKind);
  }

  @Override
  void takeArguments(FrameReader request) {
    if (kind == ClientFrame.SCAN) {
      key = request.word(0);
      value = request.word(8);
      limit = (int) request.word(16);
      down = request.flags() == ClientFrame.DOWN;
    } else {
      key = request.word(8);
      value = request.word(16);
      expected = Op.bytes(op) > ClientFrame.OPERATION_BYTES ? request.word(24) : 0;
    }
  }

  @Override
  void operate() {
    if (kind == ClientFrame.SCAN) {
      scan();
    } else {
      operateOnKey();
    }
  }

  @Override
  void forget() {
    entries = 0;
  }

  @Override
  int addFound(FrameWriter response) {
    for (int i = 0; i < entries; i++) {
      response.entry(page[2 * i], page[2 * i + 1]);
    }
    return entries;
  }

  @Override
  int flags() {
    return 0;
  }

  /** Does nothing: the memory of a page is used again. */
  @Override
  void releaseMemory() {}

  private void operateOnKey() {
    Session session = session();
    switch (op) {
      case Op.GET -> found(session.get(key));
      case Op.PUT -> found(session.put(key, value));
      case Op.PUT_IF_ABSENT -> stored(session.putIfAbsent(key, value));
      case Op.UPDATE -> found(session.update(key, value));
      case Op.REMOVE -> found(session.remove(key));
      case Op.STORE -> session.store(key, value);
      case Op.DISCARD -> session.discard(key);
      case Op.REPLACE -> compared(session.replace(key, expected, value));
      case Op.REMOVE_EXPECTED -> compared(session.remove(key, value));
      case Op.FLOOR, Op.CEILING -> findNeighbour();
      case Op.FLUSH -> index.flush();
      case Op.SIZE -> foundValue = session.servedSizeEstimate();
      default -> throw new IllegalStateException("was checked: op=" + op);
    }
  }

  private void found(boolean isThere) {
    if (isThere) {
      outcome = Outcome.YES;
      foundKey = key;
      foundValue = session().value();
    }
  }

  /**
   * Of an absent key the session's value is that of another operation, perhaps of another client.
   */
  private void stored(boolean wasStored) {
    outcome = wasStored ? Outcome.YES : Outcome.NO;
    foundValue = wasStored ? 0 : session().value();
  }

  private void compared(boolean wasDone) {
    outcome = wasDone ? Outcome.YES : Outcome.NO;
    foundValue = session().value();
  }

  private void findNeighbour() {
    Session session = session();
    boolean isFloor = op == Op.FLOOR;
    try {
      boolean isThere = isFloor ? session.floor(key) : session.ceiling(key);
      if (isThere) {
        outcome = Outcome.YES;
        foundKey = session.key();
        foundValue = session.value();
      }
    } catch (NotServedHereException e) {
      findNeighbourHere(isFloor);
    }
  }

  /** Looks as far as the range goes that the key is in. */
  private void findNeighbourHere(boolean isFloor) {
    Session session = session();
    Partitioning partitioning = index.partitioning();
    int range = partitioning.rangeOfKey(key);
    long end = isFloor ? partitioning.lowOfRange(range) : partitioning.highOfRange(range);
    takePage(1);
    long visited = isFloor ? session.scanDown(key, end, 1, this) : session.scan(key, end, 1, this);
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
  private void scan() {
    Session session = session();
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
    long visited =
        down ? session.scanDown(key, end, limit, this) : session.scan(key, end, limit, this);
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
}
