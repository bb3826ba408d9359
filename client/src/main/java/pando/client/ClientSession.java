package pando.client;

import java.util.Objects;
import pando.client.wire.ClientFrame;
import pando.client.wire.Op;
import pando.fabric.memory.StackRoom;
import pando.index.EntryVisitor;
import pando.index.Session;
import pando.index.session.SessionState;

/**
 * A session over the network, by a {@link PandoClient}. Once warm, and without TLS, no operation
 * allocates, except {@link #servedSizeEstimate}.
 *
 * <p>It keeps what {@link Session} promises, with these differences:
 *
 * <ul>
 *   <li>When a connection is cut, the session sends again what certainly was not done, and what
 *       changes nothing. A change that was sent and not answered ends in {@link
 *       pando.fabric.UnknownOutcomeException}. If no compute server that serves a key can be
 *       reached, an operation ends in {@link pando.fabric.StalledException} after the options'
 *       patience.
 *   <li>{@link #floor} and the like ask one compute server after the other, until one has an entry
 *       in its range. Each answer is linearizable, several together are not.
 *   <li>{@link #alone} throws {@link IllegalStateException}, as a client cannot keep others out.
 *   <li>{@link #sizeEstimate} is exact below 1,000 entries, which a scan counts; above, it is the
 *       sum of the compute servers' estimates.
 *   <li>If a compute server fails for a reason of its own, an operation throws {@link
 *       ClientException}.
 *   <li>After the client is closed, every operation throws {@link IllegalStateException}.
 * </ul>
 */
public final class ClientSession implements Session {
  /** Entries that are counted, before their number is estimated. */
  private static final long COUNTED = 1_000;

  /** Entries of a scan's first page; of later ones, as many as go. */
  private static final int FIRST_PAGE = 128;

  /** Keys at a time. */
  private static final int KEYS_MAX = 1_024;

  private final ClientContext context;
  private final Dispatch dispatch;
  private final Call call = new Call();
  private final ClientBatch batch;
  private final FirstPlaces places = new FirstPlaces(KEYS_MAX);
  private long key;
  private long value;
  private final SessionState state = new SessionState(StackRoom.WORDS);

  ClientSession(ClientContext context) {
    this.context = context;
    this.dispatch = new Dispatch(context);
    this.batch = new ClientBatch(context);
  }

  private void checkUsable() {
    state.checkUsable();
    context.checkOpen();
  }

  private boolean operate(int op, long wanted, long stored, long expected) {
    checkUsable();
    call.operation(op, wanted, stored, expected);
    boolean answer = dispatch.run(call);
    key = wanted;
    value = call.foundValue;
    return answer;
  }

  @Override
  public long key() {
    return key;
  }

  @Override
  public long value() {
    return value;
  }

  @Override
  public boolean get(long wanted) {
    return operate(Op.GET, wanted, 0, 0);
  }

  @Override
  public boolean put(long wanted, long stored) {
    return operate(Op.PUT, wanted, stored, 0);
  }

  @Override
  public boolean putIfAbsent(long wanted, long stored) {
    return operate(Op.PUT_IF_ABSENT, wanted, stored, 0);
  }

  @Override
  public boolean update(long wanted, long stored) {
    return operate(Op.UPDATE, wanted, stored, 0);
  }

  @Override
  public boolean remove(long wanted) {
    return operate(Op.REMOVE, wanted, 0, 0);
  }

  @Override
  public boolean replace(long wanted, long expected, long stored) {
    return operate(Op.REPLACE, wanted, stored, expected);
  }

  @Override
  public boolean remove(long wanted, long expected) {
    return operate(Op.REMOVE_EXPECTED, wanted, expected, 0);
  }

  @Override
  public void store(long wanted, long stored) {
    operate(Op.STORE, wanted, stored, 0);
  }

  @Override
  public void discard(long wanted) {
    operate(Op.DISCARD, wanted, 0, 0);
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // Different arrays may be equal.
  public int getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
    checkPlaces("keys", Objects.requireNonNull(keys, "keys").length, from, count);
    checkPlaces("values", Objects.requireNonNull(values, "values").length, from, count);
    checkPlaces("found", Objects.requireNonNull(found, "found").length, from, count);
    if (keys == values) {
      throw new IllegalArgumentException(
          "keys and values are the same array: length=" + keys.length);
    }
    checkUsable();
    int present = 0;
    for (int next = from; next < from + count; next += KEYS_MAX) {
      int some = Math.min(KEYS_MAX, from + count - next);
      batch.clear();
      for (int i = 0; i < some; i++) {
        batch.get(keys[next + i]);
      }
      batch.run();
      for (int i = 0; i < some; i++) {
        found[next + i] = batch.result(i);
        if (found[next + i]) {
          values[next + i] = batch.value(i);
          present++;
        }
      }
    }
    return present;
  }

  @Override
  public void putAll(long[] keys, int from, int count, long[] values) {
    checkPlaces("keys", Objects.requireNonNull(keys, "keys").length, from, count);
    checkPlaces("values", Objects.requireNonNull(values, "values").length, from, count);
    checkUsable();
    for (int next = from; next < from + count; next += KEYS_MAX) {
      int some = Math.min(KEYS_MAX, from + count - next);
      batch.clear();
      places.clear();
      for (int i = next; i < next + some; i++) {
        int before = places.put(keys[i], batch.size());
        if (before < 0) {
          batch.store(keys[i], values[i]);
        } else {
          // As they are carried out in no order.
          batch.setValue(before, values[i]);
        }
      }
      batch.run();
      for (int place = 0; place < batch.size(); place++) {
        batch.result(place);
      }
    }
  }

  private static void checkPlaces(String name, int length, int from, int count) {
    if (from < 0 || count < 0 || count > length - from) {
      throw new IndexOutOfBoundsException(
          "no such places: array=%s, length=%s, from=%s, count=%s"
              .formatted(name, length, from, count));
    }
  }

  @Override
  public boolean floor(long wanted) {
    return findNeighbour(Op.FLOOR, wanted);
  }

  @Override
  public boolean ceiling(long wanted) {
    return findNeighbour(Op.CEILING, wanted);
  }

  private boolean findNeighbour(int op, long wanted) {
    boolean isThere = operate(op, wanted, 0, 0);
    key = call.foundKey;
    return isThere;
  }

  @Override
  public boolean lower(long wanted) {
    return wanted == Long.MIN_VALUE ? none() : floor(wanted - 1);
  }

  @Override
  public boolean higher(long wanted) {
    return wanted == Long.MAX_VALUE ? none() : ceiling(wanted + 1);
  }

  private boolean none() {
    checkUsable();
    return false;
  }

  @Override
  public boolean first() {
    return ceiling(Long.MIN_VALUE);
  }

  @Override
  public boolean last() {
    return floor(Long.MAX_VALUE);
  }

  @Override
  public long scan(long from, long to, long limit, EntryVisitor visitor) {
    return scan(from, to, false, limit, visitor);
  }

  @Override
  public long scanDown(long from, long to, long limit, EntryVisitor visitor) {
    return scan(from, to, true, limit, visitor);
  }

  private long scan(long from, long to, boolean down, long limit, EntryVisitor visitor) {
    Objects.requireNonNull(visitor, "visitor");
    if (down ? from < to : from > to) {
      throw new IllegalArgumentException("range is reversed: from=" + from + ", to=" + to);
    }
    if (limit < 0) {
      throw new IllegalArgumentException("limit is negative: limit=" + limit);
    }
    checkUsable();
    state.beginScan();
    try {
      return limit == 0 ? 0 : visit(from, to, down, limit, visitor);
    } finally {
      state.endScan();
    }
  }

  private long visit(long from, long to, boolean down, long limit, EntryVisitor visitor) {
    long next = from;
    long visited = 0;
    boolean goesOn = true;
    while (goesOn && visited < limit) {
      context.checkOpen();
      int most = visited == 0 ? FIRST_PAGE : ClientFrame.PAGE_MAX;
      call.scan(next, to, (int) Math.min(most, limit - visited), down);
      goesOn = dispatch.run(call);
      next = call.foundKey;
      for (int i = 0; i < call.entries; i++) {
        visited++;
        if (!visitor.visit(call.page[2 * i], call.page[2 * i + 1])) {
          return visited;
        }
      }
    }
    return visited;
  }

  @Override
  public long sizeEstimate() {
    long counted = scan(Long.MIN_VALUE, Long.MAX_VALUE, COUNTED, (_, _) -> true);
    return counted < COUNTED ? counted : Math.max(COUNTED, servedSizeEstimate());
  }

  /** Returns about how many entries all compute servers serve. */
  @Override
  public long servedSizeEstimate() {
    checkUsable();
    Routes routes = context.routes();
    long size = estimateSizeAt(Long.MIN_VALUE);
    for (int i = 1; routes.isPartitioned() && i < routes.routes().size(); i++) {
      if (isOtherServer(routes, i)) {
        size += estimateSizeAt(routes.routes().get(i).low());
      }
    }
    return size;
  }

  /**
   * Returns whether no route before one leads to the same server, which counts all of its ranges.
   */
  private static boolean isOtherServer(Routes routes, int place) {
    String address = routes.routes().get(place).address();
    return routes.routes().stream().limit(place).noneMatch(each -> each.address().equals(address));
  }

  private long estimateSizeAt(long key) {
    operate(Op.SIZE, key, 0, 0);
    return value;
  }

  /**
   * Throws, as only a compute server can keep others out of the index.
   *
   * @throws IllegalStateException always
   */
  @Override
  public void alone(Runnable action) {
    Objects.requireNonNull(action, "action");
    checkUsable();
    throw AnswerFailures.notAlone();
  }

  @Override
  public void close() {
    state.close();
  }
}
