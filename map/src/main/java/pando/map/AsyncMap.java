package pando.map;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.fabric.memory.Closing;
import pando.fabric.memory.StackRoom;

/**
 * Operations on a map that return at once, and are done by a thread of the map, in the order in
 * which they were asked for. Lookups that wait together are done together, with as few round trips
 * as one {@link PandoMap#getAll}: worth it where a round trip takes microseconds.
 *
 * <p>Arguments must not change until an operation is done. A failure of an operation is that of its
 * future: what the map's method of the same name throws. Functions that depend on a future run in
 * its default executor, so they may use the map, and wait.
 *
 * <p>In a data folder with {@code sync=always}, a future is done once its change is on the disk;
 * the thread does not wait for that, so many changes share a write of the disk.
 *
 * <p>At most {@value #WAITING_MAX} operations wait; a caller of another one waits for room. When
 * the map is closed, operations that have not begun fail with {@link IllegalStateException}.
 *
 * <p>Thread-safe.
 *
 * @param <K> keys
 * @param <V> values
 */
public final class AsyncMap<K, V> {
  /** How many operations can wait. */
  public static final int WAITING_MAX = 4096;

  private static final Duration CLOSING_MAX = Duration.ofSeconds(100);

  private final Entries<K, V> entries;
  private final PandoMap<K, V> map;
  private final BlockingQueue<Asked<K, V, ?>> queue = new ArrayBlockingQueue<>(WAITING_MAX);
  private final EntryBatch<K, V> batch = new EntryBatch<>(EntryBatch.Content.ENTRIES);
  private final Thread thread;

  /** Operations that are done may wait for the disk, so many at the most. */
  private final Semaphore unsafe = new Semaphore(WAITING_MAX);

  private volatile boolean closed;

  /** Whether nobody takes anything out of the queue any more. */
  private volatile boolean ended;

  /**
   * An operation.
   *
   * @param key that is looked up, {@code null} if the operation does anything else
   * @param operation to do
   * @param answer that the operation completes
   */
  private record Asked<K, V, R>(
      @Nullable K key, Function<Entries<K, V>, R> operation, CompletableFuture<R> answer) {
    void execute(AsyncMap<K, V> by) {
      try {
        by.answer(this, operation.apply(by.entries));
      } catch (Throwable e) {
        fail(e);
      }
    }

    @SuppressWarnings("NullAway") // Absent values are answers.
    void complete(@Nullable R result) {
      answer.completeAsync(() -> result);
    }

    void fail(Throwable failure) {
      answer.defaultExecutor().execute(() -> answer.completeExceptionally(failure));
    }
  }

  /** Starts the thread. */
  AsyncMap(PandoMap<K, V> map, Entries<K, V> entries) {
    this.map = map;
    this.entries = entries;
    entries.defer();
    this.thread = Thread.ofPlatform().daemon().name("pando-async").start(this::work);
  }

  /** As {@link PandoMap#get}. */
  public CompletableFuture<@Nullable V> get(K key) {
    Function<Entries<K, V>, @Nullable V> operation = at(key, Entries::get);
    return ask(new Asked<>(key, operation, new CompletableFuture<>()));
  }

  /** As {@link PandoMap#getAll}. */
  public CompletableFuture<NavigableMap<K, V>> getAll(Collection<? extends K> keys) {
    List<K> copy = List.copyOf(keys);
    return ask(session -> map.getAll(copy, session));
  }

  /** As {@link PandoMap#put}. */
  public CompletableFuture<@Nullable V> put(K key, V value) {
    checked(value, "value");
    return ask(at(key, session -> session.put(value)));
  }

  /** As {@link PandoMap#putAll}. */
  public CompletableFuture<@Nullable Void> putAll(Map<? extends K, ? extends V> entriesToStore) {
    Map<K, V> copy = new TreeMap<>(map.comparator());
    copy.putAll(entriesToStore);
    return ask(session -> {
      map.putAll(copy, session);
      return null;
    });
  }

  /** As {@link PandoMap#putIfAbsent}. */
  public CompletableFuture<@Nullable V> putIfAbsent(K key, V value) {
    checked(value, "value");
    return ask(at(key, session -> session.putIfAbsent(value)));
  }

  /** As {@link PandoMap#replace(Object, Object, Object)}. */
  public CompletableFuture<Boolean> replace(K key, V expected, V value) {
    checked(expected, "expected");
    checked(value, "value");
    return ask(at(key, session -> session.replace(expected, value)));
  }

  /** As {@link PandoMap#remove(Object)}. */
  public CompletableFuture<@Nullable V> remove(K key) {
    return ask(at(key, Entries::remove));
  }

  /** As {@link PandoMap#remove(Object, Object)}. */
  public CompletableFuture<Boolean> remove(K key, V expected) {
    checked(expected, "expected");
    return ask(at(key, session -> session.remove(expected)));
  }

  private static void checked(Object argument, String name) {
    Objects.requireNonNull(argument, name);
  }

  private static <K, V, R> Function<Entries<K, V>, R> at(
      K key, Function<Entries<K, V>, R> operation) {
    checked(key, "key");
    return entries -> {
      entries.seek(key);
      return operation.apply(entries);
    };
  }

  private <R> CompletableFuture<R> ask(Function<Entries<K, V>, R> operation) {
    return ask(new Asked<>(null, operation, new CompletableFuture<>()));
  }

  private <R> CompletableFuture<R> ask(Asked<K, V, R> asked) {
    StackRoom.MAPS.check();
    checkOpen();
    try {
      queue.put(asked);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + WAITING_MAX + " operations wait", e);
    }
    if (ended && queue.remove(asked)) {
      checkOpen();
    }
    return asked.answer;
  }

  /** Returns whether no operation is taken any more. */
  boolean isClosed() {
    return closed;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the map is closed");
    }
  }

  /** Takes what waits, until the map is closed. */
  private void work() {
    List<Asked<K, V, ?>> taken = new ArrayList<>();
    while (!closed) {
      try {
        taken.add(queue.take());
      } catch (InterruptedException e) {
        // Nobody interrupts this thread but to end it.
        break;
      }
      queue.drainTo(taken);
      execute(taken);
      taken.clear();
    }
    ended = true;
    queue.drainTo(taken);
    taken.forEach(AsyncMap::refuse);
  }

  private static void refuse(Asked<?, ?, ?> asked) {
    asked.fail(new IllegalStateException("the map was closed before the operation began"));
  }

  private void execute(List<Asked<K, V, ?>> taken) {
    int next = 0;
    while (next < taken.size()) {
      int end = next;
      while (end < taken.size() && taken.get(end).key() != null && end - next < batch.capacity()) {
        end++;
      }
      if (closed) {
        taken.subList(next, taken.size()).forEach(AsyncMap::refuse);
        return;
      }
      if (end - next < 2 || !lookUp(taken.subList(next, end))) {
        taken.get(next).execute(this);
        end = next + 1;
      }
      next = end;
    }
  }

  /** Does lookups together; returns {@code false} if they have to be done one by one. */
  @SuppressWarnings("unchecked") // The answer of a lookup is a value.
  private boolean lookUp(List<Asked<K, V, ?>> lookups) {
    batch.clear();
    try {
      for (Asked<K, V, ?> lookup : lookups) {
        batch.add(Objects.requireNonNull(lookup.key()));
      }
      entries.getAll(batch);
    } catch (Throwable e) {
      // One of them fails, and it is not known which: each of them will say.
      return false;
    }
    for (int i = 0; i < lookups.size(); i++) {
      answer((Asked<K, V, @Nullable V>) lookups.get(i), batch.value(i));
      batch.setValue(i, null); // which may be long
    }
    return true;
  }

  /** Completes an operation, once what it answers is as safe as it has to be. */
  private <R> void answer(Asked<K, V, R> asked, @Nullable R result) {
    unsafe.acquireUninterruptibly();
    entries.whenSafe(failure -> {
      unsafe.release();
      if (failure == null) {
        asked.complete(result);
      } else {
        asked.fail(failure);
      }
    });
  }

  /**
   * Waits until the operation that runs has ended, and refuses the others. A second call does
   * nothing.
   *
   * @throws StalledException if the operation does not end
   */
  void close() {
    closed = true;
    // Wakes the thread; where the queue is full, it is awake.
    CompletableFuture<Boolean> nothing = new CompletableFuture<>();
    boolean _ = queue.offer(new Asked<>(null, _ -> true, nothing));
    if (!Closing.join(thread, CLOSING_MAX)) {
      throw new StalledException("an asynchronous operation on the map does not end");
    }
    entries.close();
  }
}
