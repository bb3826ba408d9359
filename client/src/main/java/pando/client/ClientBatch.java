package pando.client;

import java.util.Arrays;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.fabric.memory.StackRoom;

/**
 * Operations that are under way together: add them, {@linkplain #run run} them, and read the result
 * of each. They take effect in any order, even those on the same key. Once warm, and without TLS, a
 * batch allocates nothing. Not thread-safe: one batch, one thread.
 */
public final class ClientBatch {
  private static final int CALLS_MIN = 16;

  private final ClientContext context;
  private final Dispatch dispatch;
  private Call[] calls = new Call[0];
  private int count;
  private boolean hasRun;

  ClientBatch(ClientContext context) {
    this.context = context;
    this.dispatch = new Dispatch(context);
  }

  /** Adds a lookup; returns its place. */
  public int get(long key) {
    return add(Op.GET, key, 0, 0);
  }

  /** Adds what {@link pando.index.Session#put} does; returns its place. */
  public int put(long key, long value) {
    return add(Op.PUT, key, value, 0);
  }

  /** Adds what {@link pando.index.Session#putIfAbsent} does; returns its place. */
  public int putIfAbsent(long key, long value) {
    return add(Op.PUT_IF_ABSENT, key, value, 0);
  }

  /** Adds what {@link pando.index.Session#update} does; returns its place. */
  public int update(long key, long value) {
    return add(Op.UPDATE, key, value, 0);
  }

  /** Adds what {@link pando.index.Session#remove(long)} does; returns its place. */
  public int remove(long key) {
    return add(Op.REMOVE, key, 0, 0);
  }

  /** Adds what {@link pando.index.Session#replace} does; returns its place. */
  public int replace(long key, long expected, long value) {
    return add(Op.REPLACE, key, value, expected);
  }

  /** Adds what {@link pando.index.Session#remove(long, long)} does; returns its place. */
  public int remove(long key, long expected) {
    return add(Op.REMOVE_EXPECTED, key, expected, 0);
  }

  /** Adds what {@link pando.index.Session#store} does; returns its place. */
  public int store(long key, long value) {
    return add(Op.STORE, key, value, 0);
  }

  /** Adds what {@link pando.index.Session#discard} does; returns its place. */
  public int discard(long key) {
    return add(Op.DISCARD, key, 0, 0);
  }

  private int add(int op, long key, long value, long expected) {
    if (hasRun) {
      throw new IllegalStateException("the batch has run: clear it first");
    }
    if (count == calls.length) {
      int longer = Math.max(CALLS_MIN, 2 * count);
      calls = Arrays.copyOf(calls, longer);
      for (int i = count; i < longer; i++) {
        calls[i] = new Call();
      }
    }
    calls[count].operation(op, key, value, expected);
    return count++;
  }

  /** Sets the value of an operation that was added. */
  void setValue(int place, long value) {
    calls[place].value = value;
  }

  /** Returns how many operations were added. */
  public int size() {
    return count;
  }

  /**
   * Carries all operations out, and waits until each is done or has failed. The failure of one does
   * not affect the others; {@link #result} and {@link #value} throw it.
   *
   * @throws IllegalStateException if the client is closed, or it has run already
   * @throws StackOverflowError if the stack has too little room; it has not run
   */
  public void run() {
    StackRoom.WORDS.check();
    context.checkOpen();
    if (hasRun) {
      throw new IllegalStateException("the batch has run: clear it first");
    }
    hasRun = true;
    dispatch.run(calls, count);
  }

  /**
   * Carries all operations out, as {@link #run} does, and removes them.
   *
   * @return how many there were
   * @throws pando.fabric.PandoException why the first of those that have failed did
   * @throws IllegalStateException as {@link #run}
   */
  public int runAndClear() {
    run();
    int size = count;
    for (int place = 0; place < size; place++) {
      call(place);
    }
    clear();
    return size;
  }

  /**
   * Returns what the operation of a session returns; {@code true} for those that return nothing.
   *
   * @throws pando.fabric.PandoException why it failed, as the operation of a session throws it
   * @throws IllegalStateException if it has not run
   */
  public boolean result(int place) {
    Call call = call(place);
    return call.outcome == Outcome.YES || call.op == Op.STORE || call.op == Op.DISCARD;
  }

  /**
   * Returns the value that the operation found, as {@link pando.index.Session#value()} does.
   *
   * @throws pando.fabric.PandoException as {@link #result}
   */
  public long value(int place) {
    return call(place).foundValue;
  }

  private Call call(int place) {
    if (place < 0 || place >= count) {
      throw new IndexOutOfBoundsException("no such operation: place=" + place + ", size=" + count);
    }
    if (!hasRun || !calls[place].isSettled) {
      // Or it ended in an error, and this one was not carried out.
      throw new IllegalStateException("the batch has not run");
    }
    RuntimeException failure = calls[place].failure;
    if (failure != null) {
      throw failure;
    }
    return calls[place];
  }

  /** Removes all operations, so that others can be added. */
  public void clear() {
    count = 0;
    hasRun = false;
  }
}
