package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import pando.sim.history.RecordedOperation.Kind;

/** One thread of a stress run: records what it does to hot keys, checks at once its own keys. */
final class StressWorker {
  private static final int OTHERWISE_EVERY = 4;

  /** Hot keys that are stored together, which need not all differ. */
  private static final int STORED = 3;

  private final Supplier<Session> sessions;
  private final StressLog log;
  private final StressKeys keys;
  private final int thread;
  private final SplittableRandom random;
  private final Map<Long, Long> own = new HashMap<>();
  private final Map<Long, Long> hot = new HashMap<>();
  private long written;

  /** The value that the operation expects, if it compares. */
  private long expected;

  StressWorker(
      Supplier<Session> sessions,
      StressLog log,
      StressKeys keys,
      int thread,
      SplittableRandom random) {
    this.sessions = sessions;
    this.log = log;
    this.keys = keys;
    this.thread = thread;
    this.random = random;
  }

  Map<Long, Long> own() {
    return own;
  }

  Map<Long, Long> hot() {
    return hot;
  }

  void run(int operations) {
    Session session = sessions.get();
    try {
      for (int i = 0; i < operations; i++) {
        boolean shrinking = i / (operations / 4) % 2 == 1;
        if (random.nextInt(3) == 0) {
          hot(session, keys.hot(random.nextInt(StressKeys.HOT)), kind(i, shrinking), i);
        } else {
          checked(session, keys.own(thread, random), kind(i, shrinking));
        }
        if (random.nextInt(2_000) == 0) {
          session.close();
          session = sessions.get();
        }
      }
    } finally {
      session.close();
    }
  }

  private void hot(Session session, long key, Kind kind, int turn) {
    if (kind == Kind.GET && turn % OTHERWISE_EVERY == 0) {
      getAllHot(session);
    } else if (kind == Kind.STORE) {
      putAllHot(session);
    } else {
      expected = kind.compares() && recorded(session, key, Kind.GET) ? session.value() : 0;
      recorded(session, key, kind);
    }
  }

  private void putAllHot(Session session) {
    long[] wanted = random.longs(STORED, 0, StressKeys.HOT).map(i -> keys.hot((int) i)).toArray();
    long[] stored = LongStream.generate(this::nextValue).limit(STORED).toArray();
    long start = log.start();
    session.putAll(wanted, 0, wanted.length, stored);
    log.end(start, wanted, stored);
  }

  private void getAllHot(Session session) {
    long[] wanted = LongStream.range(0, StressKeys.HOT).map(i -> keys.hot((int) i)).toArray();
    long[] values = new long[wanted.length];
    boolean[] found = new boolean[wanted.length];
    long start = log.start();
    session.getAll(wanted, 0, wanted.length, values, found);
    log.end(start, wanted, values, found);
  }

  /** Reads every hot key, as the last operations of the run. */
  void readHot(Session session) {
    for (int i = 0; i < StressKeys.HOT; i++) {
      long key = keys.hot(i);
      if (recorded(session, key, Kind.GET)) {
        hot.put(key, session.value());
      }
    }
  }

  /** Draws a kind; one change in four has no answer, or compares. */
  private Kind kind(int turn, boolean shrinking) {
    Kind kind = kind(shrinking);
    return switch (kind) {
      case PUT -> turn % OTHERWISE_EVERY == 0 ? Kind.STORE : kind;
      case UPDATE -> turn % OTHERWISE_EVERY == 0 ? Kind.REPLACE : kind;
      case REMOVE -> turn % OTHERWISE_EVERY == 0 ? removal(turn) : kind;
      default -> kind;
    };
  }

  private static Kind removal(int turn) {
    return turn % (2 * OTHERWISE_EVERY) == 0 ? Kind.DISCARD : Kind.REMOVE_EXPECTED;
  }

  private Kind kind(boolean shrinking) {
    int kind = random.nextInt(10);
    return switch (kind) {
      case 0, 1 -> Kind.GET;
      case 2 -> Kind.UPDATE;
      case 3, 4 -> Kind.PUT_IF_ABSENT;
      case 5, 6, 7 -> shrinking ? Kind.REMOVE : Kind.PUT;
      default -> shrinking ? Kind.PUT : Kind.REMOVE;
    };
  }

  private boolean recorded(Session session, long key, Kind kind) {
    long stored = nextValue();
    long start = log.start();
    boolean wasThere = execute(session, key, kind, stored);
    log.end(start, kind, key, stored, expected, wasThere ? session.value() : null);
    return wasThere;
  }

  private void checked(Session session, long key, Kind kind) {
    long stored = nextValue();
    Long before = own.get(key);
    if (kind.compares()) {
      expected = before == null || random.nextInt(4) == 0 ? -stored : before;
    }
    boolean wasThere = execute(session, key, kind, stored);
    boolean right = before == null ? !wasThere : wasThere && session.value() == before;
    if (kind.answers() && !right) {
      assertThat(wasThere ? session.value() + "" : "absent")
          .as("thread=%d, key=%d, kind=%s, written=%d", thread, key, kind, written)
          .isEqualTo(before == null ? "absent" : before + "");
    }
    remember(key, kind, stored, before);
  }

  private void remember(long key, Kind kind, long stored, @Nullable Long before) {
    switch (kind) {
      case GET -> {}
      case PUT, STORE -> own.put(key, stored);
      case PUT_IF_ABSENT -> own.putIfAbsent(key, stored);
      case UPDATE -> own.replace(key, stored);
      case REMOVE, DISCARD -> own.remove(key, before);
      case REMOVE_EXPECTED -> own.remove(key, expected);
      case REPLACE -> own.replace(key, expected, stored);
    }
  }

  private boolean execute(Session session, long key, Kind kind, long stored) {
    return switch (kind) {
      case GET -> session.get(key);
      case PUT -> session.put(key, stored);
      case PUT_IF_ABSENT -> !session.putIfAbsent(key, stored);
      case UPDATE -> session.update(key, stored);
      case REMOVE -> session.remove(key);
      // No value of the run is 0.
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

  private long nextValue() {
    return ((long) (thread + 1) << 40) | ++written;
  }
}
