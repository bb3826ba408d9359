package pando.index;

import java.util.List;
import java.util.SplittableRandom;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;

/** What becomes of one verb that fails, and what its session is told. */
public enum Break {
  /** It takes no effect, and the session is told so. */
  LOST,
  /** It takes effect, and the session is not told. */
  DONE_AND_UNKNOWN,
  /** It takes no effect, and the session is not told. */
  NOTHING_AND_UNKNOWN,
  /** Neither it nor the verbs that follow take effect, for a while. */
  AWAY,
  /** It takes no effect, and an error is thrown. */
  ERROR_BEFORE,
  /** It takes effect, and an error is thrown. */
  ERROR_BEHIND;

  private static final int AWAY_FOR = 20;
  private static final List<Break> ALL = List.of(values());

  /** Returns any of them. */
  public static Break any(SplittableRandom random) {
    return ALL.get(random.nextInt(ALL.size()));
  }

  /** Returns what a session is told that loses a verb. */
  public static MemoryServerLostException lost() {
    return new MemoryServerLostException("lost by a test");
  }

  /** Returns its place among all, from 0: by it tests that do a part of the breaks share them. */
  public int place() {
    return ALL.indexOf(this);
  }

  /** Tells whether the session is told what became of the verb. */
  public boolean isAnswered() {
    return this == LOST || this == AWAY;
  }

  /** Returns how many verbs of those posted together take effect where one fails. */
  public int done(int number) {
    boolean takesEffect = this == DONE_AND_UNKNOWN || this == ERROR_BEHIND;
    return takesEffect ? number + 1 : number;
  }

  /**
   * Takes the place of verbs: those before the one that fails take effect, those behind it do not.
   *
   * @param number of the verb that fails
   */
  public void happen(HookedFabric fabric, HookedFabric.Posting posting, int number) {
    posting.postFirst(done(number));
    if (this == AWAY) {
      int[] left = {AWAY_FOR};
      fabric.hookEach(
          verbs -> left[0]-- > 0,
          away -> {
            throw lost();
          });
    }
    switch (this) {
      case LOST, AWAY -> throw lost();
      case DONE_AND_UNKNOWN -> throw new UnknownOutcomeException("done, not answered");
      case NOTHING_AND_UNKNOWN -> throw new UnknownOutcomeException("not done, not answered");
      case ERROR_BEFORE, ERROR_BEHIND -> throw new OutOfMemoryError("by a test");
    }
  }
}
