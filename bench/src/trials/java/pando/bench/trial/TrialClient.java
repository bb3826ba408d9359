package pando.bench.trial;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.index.EntryVisitor;
import pando.index.NotServedHereException;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.sim.Cluster;
import pando.sim.history.History;
import pando.sim.history.RecordedOperation;
import pando.sim.history.RecordedOperation.Kind;
import pando.sim.history.Scan;

/** One client of a trial: runs random operations and records their results. */
final class TrialClient {
  private static final int ENTRIES_MAX = 60;
  private static final int SESSION_OPERATIONS = 200;
  private static final int DRAWS_MAX = 8;
  private static final int OTHERWISE_EVERY = 4;

  /** Keys that are looked up together. */
  private static final int SEVERAL = 8;

  /** Keys that are stored together: fewer, as all are of unknown outcome where one fails. */
  private static final int STORED = 4;

  /** Operations that stall before a client gives up, so that a run with a lost lock ends. */
  private static final int STALLS_MAX = 4;

  /** Time after which every fault has ended. */
  private static final long REST_NANOS = 20_000_000;

  private final int number;
  private final Supplier<Session> sessions;
  private final LongPredicate serves;
  private final BooleanSupplier pace;
  private final TrialKeys keys;
  private final History history;
  private final TrialClock clock;
  private final RandomGenerator random;
  private final Predicate<PandoException> isViolation;
  private final List<String> failures = new ArrayList<>();

  /**
   * The keys that were drawn last, so that those to look up together need no draws of their own.
   */
  private final long[] recent = new long[SEVERAL];

  private Session session;
  private long written;

  /** The value that the last operation found, 0 if it found none. */
  private long found;

  private int unknown;
  private int stalls;

  /**
   * Creates a client of an index.
   *
   * @param isViolation whether an operation must not fail so
   */
  TrialClient(
      int number,
      RangeIndex index,
      TrialKeys keys,
      History history,
      TrialClock clock,
      RandomGenerator random,
      Predicate<PandoException> isViolation) {
    this(
        number,
        index::session,
        index::serves,
        () -> false,
        keys,
        history,
        clock,
        random,
        isViolation);
  }

  /**
   * Creates a client.
   *
   * @param sessions opens sessions
   * @param serves whether an operation on a key has a chance
   * @param pace called before each operation; returns whether it is done with another session
   * @param isViolation whether an operation must not fail so
   */
  TrialClient(
      int number,
      Supplier<Session> sessions,
      LongPredicate serves,
      BooleanSupplier pace,
      TrialKeys keys,
      History history,
      TrialClock clock,
      RandomGenerator random,
      Predicate<PandoException> isViolation) {
    this.number = number;
    this.sessions = sessions;
    this.serves = serves;
    this.pace = pace;
    this.keys = keys;
    this.history = history;
    this.clock = clock;
    this.random = random;
    this.isViolation = isViolation;
    this.session = sessions.get();
  }

  /** Returns the failures that are violations. */
  List<String> failures() {
    return failures;
  }

  /** Returns the operations whose outcome is unknown. */
  int unknown() {
    return unknown;
  }

  void run(int operations) {
    run(operations, () -> true);
  }

  /** Runs operations, fewer if they are of no use any more. */
  void run(int operations, BooleanSupplier areOfUse) {
    for (int i = 0; i < operations && stalls < STALLS_MAX && areOfUse.getAsBoolean(); i++) {
      if (pace.getAsBoolean()) {
        reopen();
      }
      boolean shrinking = i / (operations / 4 + 1) % 2 == 1;
      if (random.nextInt(20) == 0) {
        scan(random.nextBoolean());
      } else {
        operate(i, kind(shrinking), ownedKey());
      }
      if (random.nextInt(SESSION_OPERATIONS) == 0) {
        estimateSize();
        reopen();
      }
    }
    session.close();
  }

  private void reopen() {
    session.close();
    session = sessions.get();
  }

  /**
   * Reads and stores those of the keys that are served here, and removes them from {@code some}.
   * Gives up if too many stall.
   *
   * @param hangs receives the operations that stall
   */
  void touch(Cluster cluster, Set<Long> some, TrialHangs hangs) {
    cluster.sleepNanos(REST_NANOS);
    for (long key : List.copyOf(some)) {
      if (stalls < STALLS_MAX && serves.test(key)) {
        touch(Kind.GET, key, hangs);
        touch(Kind.PUT, key, hangs);
        some.remove(key);
      }
    }
    session.close();
  }

  private void touch(Kind kind, long key, TrialHangs hangs) {
    PandoException failure = point(kind, key);
    if (failure != null) {
      hangs.add(kind + " of " + key, failure);
    }
  }

  /** Does one operation in four as one without an answer, or as one on several keys. */
  private void operate(int turn, Kind kind, long key) {
    recent[turn % recent.length] = key;
    if (turn % OTHERWISE_EVERY > 0) {
      point(kind, key);
      return;
    }
    switch (kind) {
      case GET -> getAll(Math.min(turn + 1, recent.length));
      case PUT -> {
        if (turn % (2 * OTHERWISE_EVERY) == 0) {
          putAll(Math.min(turn + 1, STORED));
        } else {
          point(Kind.STORE, key);
        }
      }
      case UPDATE -> compare(Kind.REPLACE, key);
      case REMOVE -> {
        if (turn % (2 * OTHERWISE_EVERY) == 0) {
          compare(Kind.REMOVE_EXPECTED, key);
        } else {
          point(Kind.DISCARD, key);
        }
      }
      default -> point(kind, key);
    }
  }

  private Kind kind(boolean shrinking) {
    return switch (random.nextInt(10)) {
      case 0, 1 -> Kind.GET;
      case 2 -> Kind.UPDATE;
      case 3, 4 -> Kind.PUT_IF_ABSENT;
      case 5, 6, 7 -> shrinking ? Kind.REMOVE : Kind.PUT;
      default -> shrinking ? Kind.PUT : Kind.REMOVE;
    };
  }

  /** Reads a key, and changes it if it still has the value that was read. */
  private void compare(Kind kind, long key) {
    found = 0;
    point(Kind.GET, key);
    point(kind, key, found);
  }

  private @Nullable PandoException point(Kind kind, long key) {
    return point(kind, key, 0);
  }

  /**
   * Runs an operation on a key; returns why it failed, {@code null} where it did not.
   *
   * @param expected the value that the key must have, if the operation compares
   */
  private @Nullable PandoException point(Kind kind, long key, long expected) {
    long stored = nextValue();
    long start = clock.tick();
    boolean known = false;
    boolean none = false;
    try {
      Long before = execute(key, kind, stored, expected) ? session.value() : null;
      known = true;
      long end = clock.tick();
      history.add(new RecordedOperation(number, start, end, kind, key, stored, expected, before));
      found = before == null ? 0 : before;
      return null;
    } catch (NotServedHereException elsewhere) {
      none = true;
      return null;
    } catch (PandoException e) {
      failed(kind + " of " + key, e);
      return e;
    } finally {
      // A crash comes this way as well.
      if (!known && !none && kind != Kind.GET) {
        unknown++;
        history.add(RecordedOperation.unknown(number, start, kind, key, stored, expected));
      }
    }
  }

  private long nextValue() {
    return ((long) (number + 1) << 32) | ++written;
  }

  /** Draws a key, and seldom one that another process serves. */
  private long ownedKey() {
    long key = keys.draw(random);
    for (int draw = 0; draw < DRAWS_MAX && !serves.test(key); draw++) {
      key = keys.draw(random);
    }
    return key;
  }

  private boolean execute(long key, Kind kind, long stored, long expected) {
    return switch (kind) {
      case GET -> session.get(key);
      case PUT -> session.put(key, stored);
      case PUT_IF_ABSENT -> !session.putIfAbsent(key, stored);
      case UPDATE -> session.update(key, stored);
      case REMOVE -> session.remove(key);
      // No value of a trial is 0.
      case REPLACE -> session.replace(key, expected, stored) || session.value() != 0;
      case REMOVE_EXPECTED -> session.remove(key, expected) || session.value() != 0;
      case STORE -> {
        session.store(key, stored);
        yield false;
      }
      case DISCARD -> {
        session.discard(key);
        yield false;
      }
    };
  }

  /** Looks up keys that were drawn last. */
  private void getAll(int count) {
    long[] values = new long[count];
    boolean[] found = new boolean[count];
    long start = clock.tick();
    try {
      session.getAll(recent, 0, count, values, found);
      long end = clock.tick();
      for (int i = 0; i < count; i++) {
        history.add(
            RecordedOperation.read(number, start, end, recent[i], found[i] ? values[i] : null));
      }
    } catch (NotServedHereException elsewhere) {
      // Some were read; which of them is not said.
    } catch (PandoException e) {
      failed("get of " + count + " keys", e);
    }
  }

  /** Stores values under those keys served here of the ones drawn last; some may be the same. */
  private void putAll(int count) {
    long[] wanted = Arrays.stream(recent, 0, count).filter(serves).toArray();
    long[] stored = new long[wanted.length];
    Arrays.setAll(stored, i -> nextValue());
    long start = clock.tick();
    long end = RecordedOperation.UNKNOWN;
    try {
      session.putAll(wanted, 0, wanted.length, stored);
      end = clock.tick();
    } catch (NotServedHereException elsewhere) {
      // Some were stored; which of them is not said.
    } catch (PandoException e) {
      failed("store of " + wanted.length + " keys", e);
    } finally {
      // A crash comes this way as well.
      unknown += end == RecordedOperation.UNKNOWN ? wanted.length : 0;
      for (int i = 0; i < wanted.length; i++) {
        history.add(
            new RecordedOperation(number, start, end, Kind.STORE, wanted[i], stored[i], null));
      }
    }
  }

  private void estimateSize() {
    try {
      session.sizeEstimate();
    } catch (NotServedHereException elsewhere) {
      // Only an index all of which is served here is counted.
    } catch (PandoException e) {
      failed("estimate of the size", e);
    }
  }

  private void scan(boolean down) {
    long from = keys.any(random);
    int limit = 1 + random.nextInt(ENTRIES_MAX);
    List<Scan.Entry> entries = new ArrayList<>();
    EntryVisitor visitor = (key, value) -> entries.add(new Scan.Entry(key, value));
    long end = down ? Long.MIN_VALUE : Long.MAX_VALUE;
    long start = clock.tick();
    try {
      if (down) {
        session.scanDown(from, end, limit, visitor);
      } else {
        session.scan(from, end, limit, visitor);
      }
      record(start, from, entries.size() < limit ? end : entries.getLast().key(), entries);
    } catch (NotServedHereException elsewhere) {
      // The entries before the border are right nevertheless, and cover the range up to the last
      // key.
      if (!entries.isEmpty()) {
        record(start, from, entries.getLast().key(), entries);
      }
    } catch (PandoException e) {
      failed((down ? "scan down from " : "scan from ") + from, e);
    }
  }

  private void record(long start, long from, long covered, List<Scan.Entry> entries) {
    history.add(new Scan(number, start, clock.tick(), from, covered, entries));
  }

  private void failed(String what, PandoException e) {
    if (TrialHangs.isStall(e)) {
      stalls++;
    }
    if (isViolation.test(e)) {
      failures.add(what + " failed: " + StackText.of(e));
    }
  }
}
