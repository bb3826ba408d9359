package pando.durable.holder;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * All states of a writer, two holders, and an heir that takes the writer's log over.
 *
 * <p>The writer appends two groups to each holder; an answer may be lost, or come late. It
 * acknowledges what both have answered. The heir may start over at any step, then it knows nothing.
 * A holder may be lost at any moment; what the other one has is then the truth. Wrong is: something
 * acknowledged is not in what the heir serves, or not in the truth; or the truth is another than
 * what the heir has served.
 */
class HoldersModelTest {
  private static final int GROUPS = 2;
  private static final int NONE = -1;

  private static final List<Step> AS_DESIGNED =
      List.of(Step.FENCE, Step.LOOK, Step.COMPLETE, Step.TELL, Step.SERVE);

  private enum Step {
    FENCE,
    LOOK,
    COMPLETE,
    TELL,
    SERVE
  }

  /** What a holder has, and what is known of it. */
  private record Holder(int kept, int answered, boolean fenced, int told, int seen) {
    Holder appended(boolean isAnswered) {
      return new Holder(kept + 1, isAnswered ? kept + 1 : answered, fenced, told, seen);
    }

    Holder heard() {
      return new Holder(kept, kept, fenced, told, seen);
    }

    Holder unseen() {
      return new Holder(kept, answered, fenced, told, NONE);
    }
  }

  /**
   * One state.
   *
   * @param lost number of the holder that is lost
   * @param done steps of the heir at single holders, in order
   */
  private record State(
      Holder first, Holder second, int acknowledged, int done, int served, int lost, int truth) {
    Holder holder(int number) {
      return number == 0 ? first : second;
    }

    State with(int number, Holder holder) {
      return number == 0
          ? new State(holder, second, acknowledged, done, served, lost, truth)
          : new State(first, holder, acknowledged, done, served, lost, truth);
    }

    State withDone(int steps, int served) {
      return new State(first, second, acknowledged, steps, served, lost, truth);
    }

    boolean isWrong() {
      boolean isServedWrong = served != NONE && served < acknowledged;
      boolean isTruthWrong =
          truth != NONE && (truth < acknowledged || (served != NONE && served != truth));
      return isServedWrong || isTruthWrong;
    }
  }

  /** A protocol: as designed, or with a bug. */
  private record Protocol(List<Step> order, boolean fences, boolean oneIsEnough) {
    /** Explores all states; returns how many there are that are not wrong, and how many are. */
    int[] explore() {
      Holder empty = new Holder(0, 0, false, NONE, NONE);
      Deque<State> queue = new ArrayDeque<>();
      Set<State> seen = new HashSet<>();
      int[] wrong = new int[1];
      Consumer<State> reach =
          state -> {
            if (state.isWrong()) {
              wrong[0]++;
            } else if (seen.add(state)) {
              queue.add(state);
            }
          };
      reach.accept(new State(empty, empty, 0, 0, NONE, NONE, NONE));
      while (!queue.isEmpty()) {
        State state = queue.remove();
        if (state.truth == NONE) {
          write(state, reach);
          lose(state, reach);
          inherit(state, reach);
        }
      }
      return new int[] {seen.size(), wrong[0]};
    }

    private void write(State state, Consumer<State> reach) {
      for (int i = 0; i < 2; i++) {
        Holder holder = state.holder(i);
        if (i == state.lost || (holder.fenced && fences)) {
          continue;
        }
        if (holder.kept < GROUPS) {
          reach.accept(state.with(i, holder.appended(false)));
          reach.accept(state.with(i, holder.appended(true)));
        } else if (holder.answered < holder.kept) {
          reach.accept(state.with(i, holder.heard()));
        }
      }
      int one = state.first.answered;
      int other = state.second.answered;
      int both = oneIsEnough ? Math.max(one, other) : Math.min(one, other);
      if (both > state.acknowledged) {
        reach.accept(
            new State(state.first, state.second, both, state.done, state.served, state.lost, NONE));
      }
    }

    private static void lose(State state, Consumer<State> reach) {
      for (int i = 0; i < 2; i++) {
        int truth = NONE;
        if (state.lost != NONE) {
          Holder left = state.holder(1 - state.lost);
          truth = left.told == NONE ? left.kept : left.told;
        }
        reach.accept(
            new State(
                state.first,
                state.second,
                state.acknowledged,
                state.done,
                state.served,
                state.lost == NONE ? i : state.lost,
                truth));
      }
    }

    private void inherit(State state, Consumer<State> reach) {
      if (state.lost != NONE) {
        return;
      }
      if (state.done > 0 && state.served == NONE) {
        reach.accept(
            state.with(0, state.first.unseen()).with(1, state.second.unseen()).withDone(0, NONE));
      }
      if (state.done == 2 * order.size()) {
        return;
      }
      int i = state.done % 2;
      Holder holder = state.holder(i);
      int end = Math.max(state.first.seen, state.second.seen);
      State after = state.withDone(state.done + 1, state.served);
      reach.accept(
          switch (order.get(state.done / 2)) {
            case FENCE ->
                after.with(
                    i, new Holder(holder.kept, holder.answered, true, holder.told, holder.seen));
            case LOOK ->
                after.with(
                    i,
                    new Holder(
                        holder.kept, holder.answered, holder.fenced, holder.told, holder.kept));
            case COMPLETE ->
                after.with(
                    i,
                    new Holder(
                        Math.max(holder.kept, end),
                        holder.answered,
                        holder.fenced,
                        holder.told,
                        holder.seen));
            case TELL ->
                after.with(
                    i, new Holder(holder.kept, holder.answered, holder.fenced, end, holder.seen));
            case SERVE -> state.withDone(state.done + 1, end);
          });
    }
  }

  @Test
  void shouldLoseNothingInAnyState() {
    int[] found = new Protocol(AS_DESIGNED, true, false).explore();
    System.out.println("states=" + found[0]);
    assertThat(found[0]).isGreaterThan(4_000);
    assertThat(found[1]).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "no fence,                FENCE LOOK COMPLETE TELL SERVE, false, false",
    "looked before the fence, LOOK FENCE COMPLETE TELL SERVE, true,  false",
    "served before complete,  FENCE LOOK SERVE COMPLETE TELL, true,  false",
    "one holder is enough,    FENCE LOOK COMPLETE TELL SERVE, true,  true",
  })
  void shouldFindEachBug(String bug, String order, boolean fences, boolean oneIsEnough) {
    List<Step> steps = List.of(order.split(" ")).stream().map(Step::valueOf).toList();
    assertThat(new Protocol(steps, fences, oneIsEnough).explore()[1]).as(bug).isPositive();
  }
}
