package pando.sim.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.sim.history.RecordedOperation.Kind;

/**
 * Looks for an order of one key's operations in which each takes effect between its start and its
 * end with the result that it had (Wing and Gong 1993, keeping states instead of orders).
 *
 * <p>Processes starts and ends in the order of time and keeps every state that the key may have:
 * its value, and the set of operations under way that have taken effect. At the end of an
 * operation, it must have taken effect; others under way may take effect before it, in any order.
 * If no state is left, no order explains the results. An operation of unknown outcome is under way
 * for ever and may never take effect. A loss takes effect as an operation does; after it the key
 * has any value that it may have had before.
 */
final class KeySearch {
  private static final int UNDER_WAY_MAX = Long.SIZE;
  private static final int STATES_MAX = 100_000;
  private static final int SHOWN_EVENTS = 16;
  private static final int SHOWN_STATES = 8;

  private final List<RecordedOperation> operations;
  private final List<Loss> losses;
  private final @Nullable Object[] underWay = new @Nullable Object[UNDER_WAY_MAX];
  private Set<State> states = new HashSet<>();

  /** What the key may be after each loss: {@code null} is none. */
  private final Map<Loss, Set<@Nullable Long>> valuesAfter = new HashMap<>();

  KeySearch(List<RecordedOperation> operations, List<Loss> losses) {
    this.operations = withoutTraceless(operations);
    this.losses = losses;
  }

  /**
   * Removes operations of unknown outcome whose value was never read: an order with them is also
   * one without them, unless an unknown update needed their value.
   */
  private static List<RecordedOperation> withoutTraceless(List<RecordedOperation> operations) {
    Set<Long> seen = new HashSet<>();
    for (RecordedOperation operation : operations) {
      if (operation.before() != null) {
        seen.add(operation.before());
      }
      if (!operation.isKnown() && operation.kind().compares()) {
        seen.add(operation.expected());
      }
    }
    boolean updated =
        operations.stream()
            .anyMatch(operation ->
                !operation.isKnown()
                    && operation.kind() == Kind.UPDATE
                    && seen.contains(operation.stored()));
    if (updated) {
      return operations;
    }
    return operations.stream()
        .filter(operation ->
            operation.isKnown()
                || operation.kind().isRemoval()
                || seen.contains(operation.stored()))
        .toList();
  }

  private record State(@Nullable Long value, long done) {
    boolean has(int place) {
      return (done & 1L << place) != 0;
    }
  }

  /** The start or end of an operation or a loss. */
  private record Event(long time, boolean starts, Object of) {}

  /** Returns why no order explains the results, or {@code null} if one does. */
  @Nullable String run(@Nullable Long initial) {
    List<Event> events = events();
    values(initial);
    states.add(new State(initial, 0));
    for (int i = 0; i < events.size(); i++) {
      Object operation = events.get(i).of();
      if (events.get(i).starts()) {
        underWay[freePlace(operation)] = operation;
        continue;
      }
      Set<State> before = states;
      int place = placeOf(operation);
      states = statesAfter(place);
      underWay[place] = null;
      if (states.isEmpty()) {
        return describe(operation, before, events.subList(Math.max(0, i - SHOWN_EVENTS), i + 1));
      }
    }
    return null;
  }

  private List<Event> events() {
    List<Event> events = new ArrayList<>();
    for (RecordedOperation operation : operations) {
      events.add(new Event(operation.start(), true, operation));
      if (operation.isKnown()) {
        events.add(new Event(operation.end(), false, operation));
      }
    }
    for (Loss loss : losses) {
      events.add(new Event(loss.start(), true, loss));
      events.add(new Event(loss.end(), false, loss));
    }
    // At equal times starts come first, so that such operations overlap.
    events.sort(Comparator.comparingLong(Event::time).thenComparing(event -> !event.starts()));
    return events;
  }

  /** Finds out which values the key may have after each loss. */
  private void values(@Nullable Long initial) {
    for (Loss loss : losses) {
      Set<@Nullable Long> values = new HashSet<>();
      if (!isKept(loss, 0)) {
        values.add(initial);
      }
      for (RecordedOperation operation : operations) {
        if (operation.start() < loss.end() && !isKept(loss, operation.end())) {
          if (operation.kind().stores() && mayHaveStored(operation)) {
            values.add(operation.stored());
          } else if (operation.kind().isRemoval()) {
            values.add(null);
          }
        }
      }
      valuesAfter.put(loss, values);
    }
  }

  /**
   * Returns whether the value that an operation left was replaced by another change that is not
   * lost: one that began when the operation had ended, and nothing was lost meanwhile.
   *
   * @param end of the operation
   */
  private boolean isKept(Loss loss, long end) {
    boolean lostBefore =
        losses.stream()
            .anyMatch(other ->
                other.losesAcknowledged()
                    && !other.equals(loss)
                    && other.end() > end
                    && other.start() < loss.start());
    return !lostBefore
        && operations.stream()
            .anyMatch(later ->
                later.start() > end && later.end() <= loss.keptBefore() && hasChanged(later));
  }

  /** Returns whether an operation has changed the key for certain. */
  private static boolean hasChanged(RecordedOperation operation) {
    return operation.isKnown()
        && switch (operation.kind()) {
          case PUT, STORE, REMOVE, DISCARD -> true;
          case GET -> false;
          case PUT_IF_ABSENT, UPDATE, REPLACE, REMOVE_EXPECTED ->
              operation.kind().answers()
                  && !Objects.equals(operation.after(operation.before()), operation.before());
        };
  }

  /** Returns whether an operation may have stored its value, by what it says was there before. */
  private static boolean mayHaveStored(RecordedOperation operation) {
    return !operation.isKnown()
        || !operation.kind().answers()
        || Objects.equals(operation.after(operation.before()), operation.stored());
  }

  private int freePlace(Object operation) {
    for (int place = 0; place < UNDER_WAY_MAX; place++) {
      if (underWay[place] == null) {
        return place;
      }
    }
    throw new EntangledException(
        "too many operations on one key at a time: maximum="
            + UNDER_WAY_MAX
            + ", operation="
            + operation);
  }

  @SuppressWarnings("ReferenceEquality") // Different operations may be equal.
  private int placeOf(Object operation) {
    int place = 0;
    while (underWay[place] != operation) {
      place++;
    }
    return place;
  }

  /** Returns the states after the end of an operation, in which it has taken effect. */
  private Set<State> statesAfter(int ended) {
    Set<State> after = new HashSet<>();
    Set<State> seen = new HashSet<>(states);
    List<State> open = new ArrayList<>(states);
    while (!open.isEmpty()) {
      State state = open.removeLast();
      if (state.has(ended)) {
        after.add(new State(state.value(), state.done() & ~(1L << ended)));
        continue;
      }
      if (seen.size() > STATES_MAX) {
        throw new EntangledException("its operations overlap too much: states=" + STATES_MAX);
      }
      for (State next : statesAfter(state)) {
        if (seen.add(next)) {
          open.add(next);
        }
      }
    }
    return after;
  }

  /** Returns the states that follow when any one of the operations under way takes effect. */
  private List<State> statesAfter(State state) {
    List<State> after = new ArrayList<>();
    boolean removed = false;
    for (int place = 0; place < UNDER_WAY_MAX; place++) {
      Object found = underWay[place];
      if (found instanceof Loss loss && !state.has(place)) {
        long done = state.done() | 1L << place;
        valuesAfter
            .getOrDefault(loss, Set.of())
            .forEach(value -> after.add(new State(value, done)));
      }
      if (!(found instanceof RecordedOperation next)
          || state.has(place)
          || !next.answersFor(state.value())) {
        continue;
      }
      Long value = next.after(state.value());
      if (!next.isKnown()) {
        // An operation that changes nothing may also take effect later, or never; and REMOVEs of
        // any
        // value are alike.
        boolean removes = next.kind().isRemoval() && !next.kind().compares();
        if (Objects.equals(value, state.value()) || (removed && removes)) {
          continue;
        }
        removed |= removes;
      }
      after.add(new State(value, state.done() | 1L << place));
    }
    return after;
  }

  private static String describe(Object operation, Set<State> before, List<Event> events) {
    StringBuilder text = new StringBuilder("not linearizable: ").append(operation);
    text.append("\n  the key could be:");
    before.stream().limit(SHOWN_STATES).forEach(state -> text.append(' ').append(state.value()));
    text.append("\n  before it:");
    events.forEach(event -> text.append("\n    ").append(event));
    return text.toString();
  }
}
