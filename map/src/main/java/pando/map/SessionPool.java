package pando.map;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.SpinBackoff;
import pando.fabric.StalledException;
import pando.fabric.WaitLimit;
import pando.fabric.memory.Closing;
import pando.fabric.memory.StackRoom;

/**
 * Sessions that all threads share: each operation claims one by a CAS, at first the one that its
 * thread mostly gets, and gives it back. So a thread needs nothing of its own, and any number of
 * virtual threads get along with a few sessions. Sessions are opened when they are first claimed.
 *
 * <p>Many maps of one index share the claims of one pool, and the sessions of the index that it
 * has: each map has a pool beside it with its own codecs only.
 */
final class SessionPool<K, V> implements AutoCloseable {
  /** Claims are this many numbers apart, so that no two are in one line of a processor's cache. */
  private static final int STRIDE = 128 / Integer.BYTES;

  private static final int FREE = 0;
  private static final int CLAIMED = 1;
  private static final int CLOSED = 2;
  private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L;

  private final IntFunction<Entries<K, V>> opening;
  private final AtomicIntegerArray claims;
  private final @Nullable Entries<K, V>[] sessions;

  /** The pool that has the claims; {@code null} for this one. */
  private final @Nullable SessionPool<?, ?> shared;

  /** Why no session can be claimed any more; {@code null} as long as they can. */
  private volatile @Nullable String ended;

  /**
   * Makes a pool without open sessions.
   *
   * @param sessions how many there can be
   */
  SessionPool(int sessions, Supplier<Entries<K, V>> opening) {
    this(new AtomicIntegerArray(sessions * STRIDE), null, _ -> opening.get());
  }

  /**
   * Makes a pool whose sessions are those of another one, for another map of the same index. It is
   * closed before the other one.
   *
   * @param opening makes a session by one of the other pool, while nobody else uses that
   */
  <A, B> SessionPool(SessionPool<A, B> shared, Function<Entries<A, B>, Entries<K, V>> opening) {
    this(shared.claims, shared, place -> opening.apply(shared.opened(place)));
  }

  @SuppressWarnings("unchecked") // The array holds sessions only.
  private SessionPool(
      AtomicIntegerArray claims,
      @Nullable SessionPool<?, ?> shared,
      IntFunction<Entries<K, V>> opening) {
    this.opening = opening;
    this.claims = claims;
    this.sessions = (Entries<K, V>[]) new Entries<?, ?>[claims.length() / STRIDE];
    this.shared = shared;
  }

  /**
   * Claims a session; waits while all are claimed.
   *
   * @return its place
   * @throws IllegalStateException after {@link #close}
   * @throws StalledException if none becomes free
   * @throws StackOverflowError if the stack has too little room for an operation
   */
  int claim() {
    StackRoom.MAPS.check();
    return claimed();
  }

  /**
   * As {@link #claim()}, for one operation of the index that has nothing to undo: it checks itself
   * that the stack has room.
   */
  int claimToRead() {
    StackRoom.RETURNS.check();
    return claimed();
  }

  private int claimed() {
    int home = home();
    int place = claims.compareAndSet(home * STRIDE, FREE, CLAIMED) ? home : claimAnother(home);
    if (ended != null || sessions[place] == null) {
      open(place);
    }
    return place;
  }

  private int home() {
    long hash = (Thread.currentThread().threadId() * GOLDEN_RATIO) >>> Integer.SIZE;
    return (int) ((hash * sessions.length) >>> Integer.SIZE);
  }

  private int claimAnother(int home) {
    SpinBackoff backoff = new SpinBackoff();
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      for (int i = 0; i < sessions.length; i++) {
        int place = (home + i) % sessions.length;
        if (claims.get(place * STRIDE) == FREE
            && claims.compareAndSet(place * STRIDE, FREE, CLAIMED)) {
          return place;
        }
      }
      checkOpen();
      String what = "no session of the map becomes free: sessions";
      start = WaitLimit.LONG.pause(backoff, attempt, start, what, sessions.length);
    }
  }

  /** Opens a session that has been claimed for the first time. */
  private void open(int place) {
    try {
      checkOpen();
      StackRoom.MAPS.check();
      opened(place);
    } catch (Throwable e) {
      release(place);
      throw e;
    }
  }

  /** Returns a session that the caller has claimed, and opens it if it is not open yet. */
  private Entries<K, V> opened(int place) {
    Entries<K, V> session = sessions[place];
    if (session == null) {
      session = opening.apply(place);
      sessions[place] = session;
    }
    return session;
  }

  /** Returns a session that the caller has claimed. */
  @SuppressWarnings("NullAway") // A session that was claimed is open.
  Entries<K, V> get(int place) {
    return sessions[place];
  }

  /** Gives a session back. */
  void release(int place) {
    Entries<K, V> session = sessions[place];
    if (session != null) {
      session.calls++;
    }
    claims.setRelease(place * STRIDE, FREE);
  }

  /** Returns how many claims have ended, not quite exactly while others end. */
  long ended() {
    return Arrays.stream(sessions)
        .filter(Objects::nonNull)
        .mapToLong(session -> session.calls)
        .sum();
  }

  boolean isClosed() {
    return ended != null || (shared != null && shared.isClosed());
  }

  /**
   * Checks that the map is open.
   *
   * @throws IllegalStateException if it is not
   */
  void checkOpen() {
    String why = ended;
    if (why != null) {
      throw new IllegalStateException(why);
    }
    if (shared != null) {
      shared.checkOpen();
    }
  }

  /**
   * Waits until each session has been given back, and closes it unless another pool has it. A
   * second call closes what the first one could not.
   */
  @Override
  public void close() {
    close("the map is closed");
  }

  /**
   * As {@link #close()}.
   *
   * @param why the reason that calls get from now on
   */
  synchronized void close(String why) {
    if (ended == null) {
      ended = why;
    }
    Closing.all(
        IntStream.range(0, sessions.length)
            .<Runnable>mapToObj(place -> () -> close(place))
            .toList());
  }

  private void close(int place) {
    if (claims.get(place * STRIDE) == CLOSED) {
      return;
    }
    SpinBackoff backoff = new SpinBackoff();
    long start = 0;
    for (int attempt = 0; !take(place); attempt++) {
      String what = "an operation on the map does not end: sessions";
      start = WaitLimit.LONG.pause(backoff, attempt, start, what, sessions.length);
    }
    Entries<K, V> session = sessions[place];
    if (session != null && shared == null) {
      session.close();
    }
  }

  /** Takes a session out of use; one that others share need only be free for a moment. */
  private boolean take(int place) {
    return shared == null
        ? claims.compareAndSet(place * STRIDE, FREE, CLOSED)
        : claims.get(place * STRIDE) != CLAIMED;
  }
}
