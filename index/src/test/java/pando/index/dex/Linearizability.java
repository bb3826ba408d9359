package pando.index.dex;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Checks recorded operations on keys for linearizability, one key at a time: whether there is an
 * order in which every operation takes effect between its start and its end and answers as it did.
 */
final class Linearizability {
  /** Threads that can record. */
  static final int THREADS_MAX = 30;

  private Linearizability() {}

  /** What an operation does. */
  enum Kind {
    GET,
    PUT,
    PUT_IF_ABSENT,
    UPDATE,
    REMOVE
  }

  /**
   * One operation that has ended.
   *
   * @param wasThere whether the key was there before it
   * @param before the value before it, if it was there
   */
  record Operation(
      int thread,
      long key,
      Kind kind,
      long stored,
      boolean wasThere,
      long before,
      long start,
      long end) {

    boolean answersFor(@Nullable Long state) {
      return state == null ? !wasThere : wasThere && state == before;
    }

    @Nullable Long after(@Nullable Long state) {
      return switch (kind) {
        case GET -> state;
        case PUT -> Long.valueOf(stored);
        case PUT_IF_ABSENT -> state == null ? Long.valueOf(stored) : state;
        case UPDATE -> state == null ? null : Long.valueOf(stored);
        case REMOVE -> null;
      };
    }
  }

  /** Records the operations of one thread. */
  static final class Log {
    private final AtomicLong clock;
    private final int thread;
    private final List<Operation> operations = new ArrayList<>();

    Log(AtomicLong clock, int thread) {
      this.clock = clock;
      this.thread = thread;
    }

    long start() {
      return clock.getAndIncrement();
    }

    void end(long start, Kind kind, long key, long stored, boolean wasThere, long before) {
      long end = clock.getAndIncrement();
      operations.add(new Operation(thread, key, kind, stored, wasThere, before, start, end));
    }
  }

  /** Returns the first operation of each key that no order explains, with those about it. */
  static List<String> violations(List<Log> logs, Map<Long, Long> initial) {
    Map<Long, List<Operation>> byKey = new HashMap<>();
    for (Log log : logs) {
      for (Operation operation : log.operations) {
        byKey.computeIfAbsent(operation.key(), key -> new ArrayList<>()).add(operation);
      }
    }
    List<String> violations = new ArrayList<>();
    byKey.forEach((key, operations) -> {
      String violation = new Search(operations).run(initial.get(key));
      if (violation != null) {
        violations.add(violation);
      }
    });
    return violations;
  }

  /** A value that the key may have, and which of the operations under way have taken effect. */
  private record State(@Nullable Long value, int done) {}

  private record Event(long time, boolean starts, Operation operation) {}

  private static final class Search {
    private final List<Operation> operations;
    private final @Nullable Operation[] underWay = new @Nullable Operation[THREADS_MAX];
    private Set<State> states = new HashSet<>();

    Search(List<Operation> operations) {
      this.operations = operations;
    }

    @Nullable String run(@Nullable Long initial) {
      List<Event> events = new ArrayList<>();
      for (Operation operation : operations) {
        events.add(new Event(operation.start(), true, operation));
        events.add(new Event(operation.end(), false, operation));
      }
      events.sort(Comparator.comparingLong(Event::time));
      states.add(new State(initial, 0));
      for (int i = 0; i < events.size(); i++) {
        Operation operation = events.get(i).operation();
        if (events.get(i).starts()) {
          underWay[operation.thread()] = operation;
          continue;
        }
        Set<State> before = states;
        states = new HashSet<>();
        before.forEach(state -> extend(state, operation.thread()));
        underWay[operation.thread()] = null;
        if (states.isEmpty()) {
          return "not linearizable: "
              + operation
              + "\n  possible before: "
              + before
              + "\n  history: "
              + events.subList(Math.max(0, i - 16), i + 1);
        }
      }
      return null;
    }

    /** Lets operations take effect until the one of a thread has. */
    private void extend(State state, int ended) {
      if ((state.done() & 1 << ended) != 0) {
        states.add(new State(state.value(), state.done() & ~(1 << ended)));
        return;
      }
      for (int thread = 0; thread < THREADS_MAX; thread++) {
        Operation next = underWay[thread];
        if (next != null && (state.done() & 1 << thread) == 0 && next.answersFor(state.value())) {
          extend(new State(next.after(state.value()), state.done() | 1 << thread), ended);
        }
      }
    }
  }
}
