package pando.map;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerArray;
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
 */
final class SessionPool<K, V> implements AutoCloseable {
  /** Claims are this many numbers apart, so that no two are in one line of a processor's cache. */
  private static final int STRIDE = 128 / Integer.BYTES;

  private static final int FREE = 0;
  private static final int CLAIMED = 1;
  private static final int CLOSED = 2;
  private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L;

  private final Supplier<Entries<K, V>> opening;
  private final AtomicIntegerArray claims;
  private final @Nullable Entries<K, V>[] sessions;

  /** Claims that have ended, as far apart as the claims; the holder of a claim adds to its own. */
  private final long[] ended;

  private volatile boolean closed;

  /**
   * Makes a pool without open sessions.
   *
   * @param sessions how many there can be
   */
  @SuppressWarnings("unchecked") // The array holds sessions only.
  SessionPool(int sessions, Supplier<Entries<K, V>> opening) {
    this.opening = opening;
    this.claims = new AtomicIntegerArray(sessions * STRIDE);
    this.ended = new long[sessions * STRIDE];
    this.sessions = (Entries<K, V>[]) new Entries<?, ?>[sessions];
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
    int home = home();
    int place = claims.compareAndSet(home * STRIDE, FREE, CLAIMED) ? home : claimAnother(home);
    if (closed || sessions[place] == null) {
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
      sessions[place] = opening.get();
    } catch (Throwable e) {
      release(place);
      throw e;
    }
  }

  /** Returns a session that the caller has claimed. */
  @SuppressWarnings("NullAway") // A session that was claimed is open.
  Entries<K, V> get(int place) {
    return sessions[place];
  }

  /** Gives a session back. */
  void release(int place) {
    ended[place * STRIDE]++;
    claims.setRelease(place * STRIDE, FREE);
  }

  /** Returns how many claims have ended, not quite exactly while others end. */
  long ended() {
    return Arrays.stream(ended).sum();
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Checks that the map is open.
   *
   * @throws IllegalStateException if it is not
   */
  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the map is closed");
    }
  }

  /**
   * Waits until each session has been given back, and closes it. A second call closes what the
   * first one could not.
   */
  @Override
  public synchronized void close() {
    closed = true;
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
    for (int attempt = 0; !claims.compareAndSet(place * STRIDE, FREE, CLOSED); attempt++) {
      String what = "an operation on the map does not end: sessions";
      start = WaitLimit.LONG.pause(backoff, attempt, start, what, sessions.length);
    }
    Entries<K, V> session = sessions[place];
    if (session != null) {
      session.close();
    }
  }
}
