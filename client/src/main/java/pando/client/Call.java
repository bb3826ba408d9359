package pando.client;

import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.client.wire.StatusWord;
import pando.fabric.wire.FrameException;
import pando.index.Partitioning;

/**
 * One thing that a compute server is asked, and its answer; used again for the next. The thread
 * that asks sets it, then the connection has it until it is answered or fails.
 */
class Call {
  /** What became of it. */
  enum State {
    /** It is of the thread that asks. */
    IDLE,
    /** It is of a connection. */
    UNDER_WAY,
    /** The answer is there. */
    ANSWERED,
    /** It certainly was not done, and will not be. */
    NOT_DONE,
    /** It left, and no answer came. */
    CUT
  }

  int kind;
  int op;

  /** Key of the operation, or the first of the range. */
  long key;

  long value;
  long expected;

  /** Last key of a SCAN. */
  long to;

  int limit;
  boolean down;

  /** The range whose server writes what it has, by its place among the routes; of a FLUSH. */
  int flushed;

  /** Its place among those under way of its connection. */
  int id;

  /** Of a kind that is answered by it. */
  long sequence;

  /** When the answer must be there. */
  long deadline;

  /** Where it ends among all bytes that its connection was given. */
  long endsAt;

  /** Whose it is, while it is under way. */
  @Nullable Connection connection;

  /** Waits for it, while another thread reads. */
  volatile @Nullable Thread waiter;

  private volatile State state = State.IDLE;
  int outcome;
  long foundKey;
  long foundValue;
  String text = "";
  long epoch;
  long[] page = new long[0];
  int entries;
  @Nullable Routes routes;
  final long[] status = new long[StatusWord.COUNT];

  /** Whether it need not be sent again: it is answered, or {@link #failure} says why not. */
  boolean isSettled;

  @Nullable RuntimeException failure;

  /** Sets an operation. */
  void operation(int newOp, long newKey, long newValue, long newExpected) {
    begin(ClientFrame.OPERATIONS);
    op = newOp;
    key = newKey;
    value = newValue;
    expected = newExpected;
  }

  /** Sets a FLUSH of the compute server that has a range. */
  void flush(int range) {
    operation(Op.FLUSH, 0, 0, 0);
    flushed = range;
  }

  /** Sets a page of a scan. */
  void scan(long from, long last, int newLimit, boolean isDown) {
    begin(ClientFrame.SCAN);
    key = from;
    to = last;
    limit = newLimit;
    down = isDown;
  }

  /** Sets another kind, which needs nothing besides. */
  void begin(int newKind) {
    kind = newKind;
    state = State.IDLE;
    isSettled = false;
    failure = null;
  }

  /** Says that it need not be sent again, and why it failed, if it did. */
  void settle(@Nullable RuntimeException why) {
    failure = why;
    isSettled = true;
  }

  /** Returns whether it may be done twice. */
  boolean isRead() {
    return kind != ClientFrame.OPERATIONS || Op.isRead(op);
  }

  /** Returns whether it asks for what a compute server has: its heir has not got that. */
  final boolean isFlush() {
    boolean isOperation = kind == ClientFrame.OPERATIONS || kind == ClientFrame.BYTES;
    return isOperation && op == Op.FLUSH;
  }

  /** Returns the range of a table whose server is asked. */
  final int rangeIn(Partitioning table) {
    return isFlush() ? Math.min(flushed, table.servers() - 1) : rangeOfKey(table);
  }

  /** Returns the range of a table that has its key, or those with which it begins. */
  int rangeOfKey(Partitioning table) {
    return table.rangeOfKey(key);
  }

  /** Returns the flags of its request. */
  int flags() {
    return down && kind == ClientFrame.SCAN ? ClientFrame.DOWN : 0;
  }

  /** Adds what is asked to its request; not that of an operation on words. */
  void addTo(FrameWriter request) {
    if (kind == ClientFrame.SCAN) {
      request.word(key);
      request.word(to);
      request.word(limit);
    }
  }

  /** Goes on where the server that has answered has no more. */
  void goOn() {
    key = foundKey;
  }

  /** Returns the address of the compute server that was asked last, empty if there was none. */
  String server() {
    Connection its = connection;
    return its == null ? "" : its.address();
  }

  /** Returns what is asked, for a message. */
  String what() {
    return switch (kind) {
      case ClientFrame.OPERATIONS -> Op.name(op) + ", key=" + key;
      case ClientFrame.SCAN -> "scan, from=" + key + ", to=" + to;
      case ClientFrame.ROUTES -> "routes";
      case ClientFrame.STATUS -> "status";
      default -> "kind " + kind;
    };
  }

  State state() {
    return state;
  }

  boolean isUnderWay() {
    return state == State.UNDER_WAY;
  }

  /** Gives it to a connection. */
  void start(Connection to, long latest) {
    connection = to;
    deadline = latest;
    text = "";
    state = State.UNDER_WAY;
  }

  /**
   * Gives it back to the thread that asks, which goes on.
   *
   * @param newText of the result; or why it could not be sent, or no answer came
   */
  void end(State became, String newText) {
    text = newText;
    state = became;
    Thread waits = waiter;
    if (waits != null) {
      LockSupport.unpark(waits);
    }
  }

  /**
   * Takes a result at the place of a frame.
   *
   * @throws FrameException if there is none
   */
  void takeResult(FrameReader from) throws FrameException {
    if (from.left() < ClientFrame.RESULT_BYTES) {
      throw new FrameException("results that are not there: left=" + from.left());
    }
    long word = from.word(0);
    int found = (int) word & 0xff;
    if (!Outcome.exists(found)) {
      throw new FrameException("no result is like this: word=0x" + Long.toHexString(word));
    }
    foundKey = from.word(8);
    foundValue = from.word(16);
    epoch = from.party();
    outcome = found;
    from.skip(ClientFrame.RESULT_BYTES);
    int bytes = (int) (word >>> Integer.SIZE);
    text = bytes == 0 ? "" : from.text(bytes);
  }

  /**
   * Takes the response to what is no operation.
   *
   * @throws FrameException if it makes no sense
   */
  void takeResponse(FrameReader from) throws FrameException {
    switch (kind) {
      case ClientFrame.SCAN -> takePage(from);
      case ClientFrame.ROUTES -> routes = RoutesReader.read(from);
      default -> takeStatus(from);
    }
  }

  private void takePage(FrameReader from) throws FrameException {
    takeResult(from);
    entries = from.count();
    if (entries > limit || from.left() != entries * ClientFrame.ENTRY_BYTES) {
      throw new FrameException(
          "no page is like this: entries="
              + entries
              + ", limit="
              + limit
              + ", left="
              + from.left());
    }
    if (page.length < 2 * entries) {
      page = Arrays.copyOf(page, 2 * limit);
    }
    for (int i = 0; i < 2 * entries; i++) {
      page[i] = from.word(Long.BYTES * i);
    }
    checkPage();
  }

  /** Checks that keys are in order and in the range, as a scan promises it. */
  private void checkPage() throws FrameException {
    long last = key;
    for (int i = 0; i < entries; i++) {
      long next = page[2 * i];
      boolean isBehind = i == 0 || next != last;
      if (down ? next > last || next < to || !isBehind : next < last || next > to || !isBehind) {
        throw new FrameException("a page out of order: key=" + next + ", before=" + last);
      }
      last = next;
    }
    boolean goesOn = outcome == Outcome.YES;
    if (goesOn && (down ? foundKey > last || foundKey < to : foundKey < last || foundKey > to)) {
      throw new FrameException("a page that goes on elsewhere: key=" + foundKey + ", last=" + last);
    }
  }

  private void takeStatus(FrameReader from) throws FrameException {
    takeResult(from);
    if (from.count() != StatusWord.COUNT || from.left() != StatusWord.COUNT * Long.BYTES) {
      throw new FrameException("no status is like this: words=" + from.count());
    }
    for (int place = 0; place < StatusWord.COUNT; place++) {
      status[place] = from.word(Long.BYTES * place);
    }
  }
}
