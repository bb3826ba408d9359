package pando.client;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.Op;
import pando.fabric.memory.StackRoom;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteReceiver;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteVisitor;
import pando.index.session.SessionState;

/** A session of byte strings over the network. Allocates what it returns. */
final class ClientByteSession implements ByteSession {
  /** Bytes of a scan's first page; later ones may fill a long frame. */
  private static final int FIRST_PAGE_BYTES = 32 << 10;

  private static final int FIRST_PAGE = 128;

  private static final MemorySegment NOTHING = ByteCall.NOTHING;

  private final ClientStrings strings;
  private final Dispatch dispatch;
  private final ByteCall call = new ByteCall();
  private final ByteBatch batch;
  private MemorySegment key = NOTHING;
  private final SessionState state = new SessionState(StackRoom.STRINGS);

  ClientByteSession(ClientStrings strings) {
    this.strings = strings;
    this.dispatch = new Dispatch(strings.context);
    this.batch = new ByteBatch(strings, dispatch);
  }

  private void checkUsable() {
    state.checkUsable();
    strings.checkOpen();
  }

  private boolean operate(
      int op, MemorySegment wanted, MemorySegment stored, MemorySegment expected) {
    checkKey(wanted);
    ByteArguments.checkValue(stored, strings.valueBytesMax());
    ByteArguments.checkValue(expected, strings.valueBytesMax());
    checkUsable();
    call.operation(op, wanted, stored, expected);
    boolean answer = dispatch.run(call);
    key = wanted;
    return answer;
  }

  private void checkKey(MemorySegment wanted) {
    ByteArguments.checkKey(wanted, strings.keyBytesMax());
  }

  @Override
  public MemorySegment key() {
    return key;
  }

  @Override
  public MemorySegment value() {
    return call.value();
  }

  @Override
  public boolean get(MemorySegment wanted) {
    return operate(Op.GET, wanted, NOTHING, NOTHING);
  }

  @Override
  public boolean put(MemorySegment wanted, MemorySegment stored) {
    return operate(Op.PUT, wanted, stored, NOTHING);
  }

  @Override
  public boolean putIfAbsent(MemorySegment wanted, MemorySegment stored) {
    return operate(Op.PUT_IF_ABSENT, wanted, stored, NOTHING);
  }

  @Override
  public boolean update(MemorySegment wanted, MemorySegment stored) {
    return operate(Op.UPDATE, wanted, stored, NOTHING);
  }

  @Override
  public boolean remove(MemorySegment wanted) {
    return operate(Op.REMOVE, wanted, NOTHING, NOTHING);
  }

  @Override
  public boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    return operate(Op.REPLACE, wanted, stored, expected);
  }

  @Override
  public boolean remove(MemorySegment wanted, MemorySegment expected) {
    return operate(Op.REMOVE_EXPECTED, wanted, NOTHING, expected);
  }

  @Override
  public void store(MemorySegment wanted, MemorySegment stored) {
    operate(Op.STORE, wanted, stored, NOTHING);
  }

  @Override
  public void discard(MemorySegment wanted) {
    operate(Op.DISCARD, wanted, NOTHING, NOTHING);
  }

  @Override
  public void getAll(List<MemorySegment> keys, ByteReceiver receiver) {
    runBatch(keys, null, receiver);
  }

  @Override
  public void storeAll(
      List<MemorySegment> keys, List<MemorySegment> values, ByteReceiver receiver) {
    ByteArguments.checkCounts(keys, values);
    runBatch(keys, values, receiver);
  }

  private void runBatch(
      List<MemorySegment> keys, @Nullable List<MemorySegment> values, ByteReceiver receiver) {
    Objects.requireNonNull(receiver, "receiver");
    checkUsable();
    state.beginScan();
    try {
      batch.run(keys, values, receiver);
    } finally {
      state.endScan();
    }
  }

  @Override
  public boolean floor(MemorySegment wanted) {
    return findNeighbour(Op.FLOOR, wanted);
  }

  @Override
  public boolean ceiling(MemorySegment wanted) {
    return findNeighbour(Op.CEILING, wanted);
  }

  /** Below the empty key there is none, and no compute server to ask. */
  @Override
  public boolean lower(MemorySegment wanted) {
    if (wanted.byteSize() == 0) {
      checkUsable();
      return false;
    }
    return findNeighbour(Op.LOWER, wanted);
  }

  @Override
  public boolean higher(MemorySegment wanted) {
    return findNeighbour(Op.HIGHER, wanted);
  }

  @Override
  public boolean first() {
    return findNeighbour(Op.CEILING, NOTHING);
  }

  @Override
  public boolean last() {
    return findNeighbour(Op.LAST, NOTHING);
  }

  private boolean findNeighbour(int op, MemorySegment wanted) {
    boolean isThere = operate(op, wanted, NOTHING, NOTHING);
    key = isThere ? call.found.asReadOnly() : NOTHING;
    return isThere;
  }

  @Override
  public long scan(
      MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    return scan(from, to, false, limit, visitor);
  }

  @Override
  public long scanDown(
      @Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
    return scan(to, from, true, limit, visitor);
  }

  private long scan(
      MemorySegment low,
      @Nullable MemorySegment high,
      boolean down,
      long limit,
      ByteVisitor visitor) {
    ByteArguments.checkScan(low, high, down, strings.keyBytesMax(), limit, visitor);
    checkUsable();
    state.beginScan();
    try {
      boolean isEmpty = limit == 0 || (high != null && high.byteSize() == 0);
      // The visitor may change what the caller gave.
      return isEmpty
          ? 0
          : visit(
              ByteArguments.copyOf(low),
              high == null ? null : ByteArguments.copyOf(high),
              down,
              limit,
              visitor);
    } finally {
      state.endScan();
    }
  }

  private long visit(
      MemorySegment low,
      @Nullable MemorySegment high,
      boolean down,
      long limit,
      ByteVisitor visitor) {
    MemorySegment least = low;
    MemorySegment end = high;
    long visited = 0;
    boolean goesOn = true;
    while (goesOn && visited < limit) {
      strings.checkOpen();
      boolean isFirst = visited == 0;
      int most = (int) Math.min(isFirst ? FIRST_PAGE : ClientFrame.PAGE_MAX, limit - visited);
      call.scan(least, end, down, most, isFirst ? FIRST_PAGE_BYTES : ClientFrame.PAGE_BYTES_MAX);
      goesOn = dispatch.run(call);
      if (down) {
        end = call.found;
      } else {
        least = call.found;
      }
      for (int i = 0; i < call.entries; i++) {
        visited++;
        if (!visitor.visit(call.key(i), call.value(i))) {
          return visited;
        }
      }
    }
    return visited;
  }

  /**
   * Throws, as only a compute server can keep others out.
   *
   * @throws IllegalStateException always
   */
  @Override
  public void alone(Runnable action) {
    Objects.requireNonNull(action, "action");
    checkUsable();
    throw AnswerFailures.notAlone();
  }

  /**
   * Throws, as {@link #alone} does.
   *
   * @throws IllegalStateException always
   */
  @Override
  public void atomically(@Nullable Collection<MemorySegment> keys, Consumer<ByteSession> action) {
    Objects.requireNonNull(action, "action");
    checkUsable();
    throw AnswerFailures.notAlone();
  }

  @Override
  public void close() {
    state.close();
  }
}
