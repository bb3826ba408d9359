package pando.client.server;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;
import pando.index.bytes.KeyBounds;

/** Carries out operations on byte strings. */
final class ByteWorker extends ServiceWorker<ByteSession> {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  /** Operations that are expected at a time, and bytes of their keys. */
  private static final int AHEAD_MAX = 16;

  private static final int AHEAD_BYTES = 2048;

  private final ByteStrings strings;
  private final byte[] aheadBytes = new byte[AHEAD_BYTES];
  private final List<MemorySegment> ahead = new ArrayList<>();

  /** Key of the operation. */
  private MemorySegment key = NOTHING;

  private MemorySegment value = NOTHING;
  private MemorySegment expected = NOTHING;

  /** The range of a page: the least key, and the first behind all, if there is one. */
  private MemorySegment low = NOTHING;

  private @Nullable MemorySegment high;
  private int limit;
  private int bytesMax;
  private boolean down;

  /** The key that was found, or from where to go on. */
  private MemorySegment foundKeyBytes = NOTHING;

  private MemorySegment foundValueBytes = NOTHING;

  /** Length of the value that was found, if it is longer than clients take; else 0. */
  private long withheld;

  private final BytePage page = new BytePage();

  ByteWorker(ByteStrings strings) {
    super(strings, strings::session);
    this.strings = strings;
  }

  @Override
  boolean takes(int requestKind) {
    return ClientFrame.isOfStrings(requestKind);
  }

  @Override
  void takeArguments(FrameReader request) {
    long first = request.word(0);
    long second = request.word(8);
    boolean isEndless = (request.flags() & ClientFrame.ENDLESS) != 0;
    boolean isDown = (request.flags() & ClientFrame.DOWN) != 0;
    request.place(ClientFrame.STRINGS_AT);
    if (kind == ClientFrame.BYTES) {
      key = request.bytes((int) (first >>> Integer.SIZE));
      value = request.bytes((int) second);
      expected = request.bytes((int) (second >>> Integer.SIZE));
    } else {
      low = request.bytes((int) first);
      high = isEndless ? null : request.bytes((int) (first >>> Integer.SIZE));
      limit = (int) second;
      bytesMax = (int) (second >>> Integer.SIZE);
      down = isDown;
    }
  }

  @Override
  int expect(FrameReader requests) {
    ByteSession open = opened();
    if (open == null) {
      return 0;
    }
    requests.keysAhead(aheadBytes, ahead, AHEAD_MAX);
    int count = ahead.size();
    if (count > 1) {
      open.expect(ahead);
    }
    ahead.clear();
    return count;
  }

  @Override
  long key() {
    return 0;
  }

  @Override
  void operate() {
    if (isTooLong()) {
      fail(
          "a key or value is too long: keyBytesMax=%s, valueBytesMax=%s"
              .formatted(strings.keyBytesMax(), strings.valueBytesMax()));
    } else if (kind == ClientFrame.BYTES) {
      operateOnKey();
    } else {
      scan();
    }
    foundKey = foundKeyBytes.byteSize();
    foundValue = withheld > 0 ? withheld : foundValueBytes.byteSize();
  }

  private void fail(String because) {
    forget();
    outcome = Outcome.FAILED;
    text = because;
  }

  private boolean isTooLong() {
    int keyBytesMax = strings.keyBytesMax();
    return kind == ClientFrame.BYTES
        ? key.byteSize() > keyBytesMax || value.byteSize() > strings.valueBytesMax()
        : low.byteSize() > keyBytesMax || (high != null && high.byteSize() > keyBytesMax);
  }

  private void operateOnKey() {
    ByteSession session = session();
    switch (op) {
      case Op.GET -> found(session.get(key));
      case Op.PUT -> found(session.put(key, value));
      case Op.PUT_IF_ABSENT -> stored(session.putIfAbsent(key, value));
      case Op.UPDATE -> found(session.update(key, value));
      case Op.REMOVE -> found(session.remove(key));
      case Op.STORE -> session.store(key, value);
      case Op.DISCARD -> session.discard(key);
      case Op.REPLACE -> compared(session.replace(key, expected, value));
      case Op.REMOVE_EXPECTED -> compared(session.remove(key, expected));
      case Op.FLUSH -> strings.flush();
      default -> findNeighbour();
    }
  }

  private void found(boolean isThere) {
    if (isThere) {
      outcome = Outcome.YES;
      takeValue(session().value());
    }
  }

  /** Where it was stored the session's value may be that of another operation. */
  private void stored(boolean wasStored) {
    outcome = wasStored ? Outcome.YES : Outcome.NO;
    takeValue(wasStored ? NOTHING : session().value());
  }

  private void compared(boolean wasDone) {
    outcome = wasDone ? Outcome.YES : Outcome.NO;
    takeValue(session().value());
  }

  private void takeValue(MemorySegment found) {
    boolean isTaken = found.byteSize() <= ClientFrame.VALUE_BYTES_MAX;
    foundValueBytes = isTaken ? found : NOTHING;
    withheld = isTaken ? 0 : found.byteSize();
  }

  private void findNeighbour() {
    ByteSession session = session();
    try {
      boolean isThere =
          switch (op) {
            case Op.FLOOR -> session.floor(key);
            case Op.LOWER -> session.lower(key);
            case Op.CEILING -> session.ceiling(key);
            case Op.HIGHER -> session.higher(key);
            default -> session.last();
          };
      found(isThere);
      foundKeyBytes = isThere ? session.key() : NOTHING;
    } catch (NotServedHereException e) {
      findNeighbourHere();
    }
  }

  /** Looks as far as the range goes that the key is in. */
  private void findNeighbourHere() {
    page.begin(1, 1);
    int keyBytesMax = strings.keyBytesMax();
    MemorySegment goOn =
        switch (op) {
          case Op.FLOOR -> fillDown(NOTHING, KeyBounds.above(key, keyBytesMax), 1);
          case Op.LOWER -> fillDown(NOTHING, key, 1);
          case Op.LAST -> fillDown(NOTHING, null, 1);
          case Op.CEILING -> fillUp(key, null, 1);
          default -> fillUpBehind(key);
        };
    if (page.count() == 1) {
      outcome = Outcome.YES;
      foundKeyBytes = page.key(0);
      foundValueBytes = page.value(0);
      withheld = page.withheld();
    } else if (goOn != null) {
      outcome = Outcome.FURTHER;
      foundKeyBytes = goOn;
    }
  }

  private @Nullable MemorySegment fillUpBehind(MemorySegment before) {
    MemorySegment from = KeyBounds.above(before, strings.keyBytesMax());
    Partitioning known = strings.partitioning();
    boolean isLast =
        from != null && KeyBounds.rangeOfKey(known, from) > KeyBounds.rangeOfKey(known, before);
    // Where it is the last key of its range there is nothing to look for here.
    return from == null || isLast ? from : fillUp(from, null, 1);
  }

  private void scan() {
    page.begin(limit, bytesMax);
    MemorySegment goOn = down ? fillDown(low, high, limit) : fillUp(low, high, limit);
    if (page.withheld() > 0) {
      fail(
          "a value is longer than a client takes: valueBytes=%s, maximum=%s"
              .formatted(page.withheld(), ClientFrame.VALUE_BYTES_MAX));
    } else if (goOn != null) {
      outcome = Outcome.YES;
      foundKeyBytes = goOn;
    }
  }

  /**
   * Fills the page with entries of the range that the first key is in.
   *
   * @return the key to go on from, {@code null} if there are no more
   */
  private @Nullable MemorySegment fillUp(MemorySegment from, @Nullable MemorySegment to, int most) {
    ByteSession session = session();
    Partitioning known = strings.partitioning();
    MemorySegment end = KeyBounds.fenceBehind(known, KeyBounds.rangeOfKey(known, from));
    boolean isEndInside = end != null && (to == null || ByteIndex.compare(end, to) < 0);
    session.scan(from, isEndInside ? end : to, most, page);
    if (page.isFull()) {
      MemorySegment goOn = KeyBounds.above(page.key(page.count() - 1), strings.keyBytesMax());
      return goOn == null || (to != null && ByteIndex.compare(goOn, to) >= 0) ? null : goOn;
    }
    return isEndInside ? end : null;
  }

  /**
   * Fills the page, downwards, with entries of the range that the keys just below the upper bound
   * are in.
   *
   * @return the key to go on below, {@code null} if there are no more
   */
  private @Nullable MemorySegment fillDown(
      MemorySegment least, @Nullable MemorySegment behind, int most) {
    ByteSession session = session();
    if (behind != null && behind.byteSize() == 0) {
      return null;
    }
    Partitioning known = strings.partitioning();
    MemorySegment end = known.fenceOfRange(KeyBounds.rangeBelow(known, behind));
    boolean isEndInside = ByteIndex.compare(end, least) > 0;
    session.scanDown(behind, isEndInside ? end : least, most, page);
    if (page.isFull()) {
      MemorySegment last = page.key(page.count() - 1);
      return ByteIndex.compare(last, least) > 0 ? ByteArguments.copyOf(last) : null;
    }
    return isEndInside ? end : null;
  }

  @Override
  void forget() {
    foundKeyBytes = NOTHING;
    foundValueBytes = NOTHING;
    withheld = 0;
    page.clear();
  }

  @Override
  int flags() {
    return withheld > 0 ? ClientFrame.WITHHELD : 0;
  }

  @Override
  int addFound(FrameWriter response) {
    response.bytes(foundKeyBytes);
    if (kind == ClientFrame.BYTES) {
      response.bytes(foundValueBytes);
      response.fill();
      return 0;
    }
    response.fill();
    page.addTo(response);
    return page.count();
  }

  @Override
  void releaseMemory() {
    key = NOTHING;
    value = NOTHING;
    expected = NOTHING;
    low = NOTHING;
    high = null;
    forget();
  }
}
