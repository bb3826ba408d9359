package pando.cli.cluster;

import java.util.ArrayList;
import java.util.List;
import pando.cli.WrongResultException;

/**
 * What one key may be found to have, while compute servers that cache changes are killed. One
 * thread at a time uses the key, so its operations have an order.
 *
 * <p>Each write has a version of its own, which is the value that it stores; a removal's is
 * negated. A version that was acknowledged or found is <em>the</em> state until the next. A loss
 * takes the key back to one of the <em>kept</em> states: the last one that was surely in the pool,
 * and all that came after it. Which one is known by the first operation that begins after the loss;
 * that state was in the pool, as the heir had nothing else, and what came behind it is lost for
 * good. A write of unknown outcome is a further state that may come about, or not. All else is
 * wrong: what was never written, what was lost before, what certainly was not done, and any step
 * back without a loss.
 */
final class KeyHistory {
  /** What an operation may find that is no version: the key is absent. */
  static final int ABSENT = 0;

  private final long key;
  private int issued;
  private int known;

  /** The kept states, in order; the last one is the state. */
  private final List<State> kept = new ArrayList<>(List.of(State.now(ABSENT)));

  /** Versions of unknown outcome that have not been seen. */
  private final List<State> unknown = new ArrayList<>();

  private long lostNanos;

  /** A version, and when its outcome was known. */
  private record State(int version, long nanos) {
    static State now(int version) {
      return new State(version, System.nanoTime());
    }

    /** Removals look alike. */
    boolean isFoundAs(int found) {
      return version == found || (version <= ABSENT && found <= ABSENT);
    }
  }

  KeyHistory(long key) {
    this.key = key;
  }

  long key() {
    return key;
  }

  /** Returns a version for a write. */
  int next() {
    return ++issued;
  }

  /**
   * Takes what an operation has found.
   *
   * @param found version, or {@link #ABSENT}
   * @param losses of compute servers
   * @param certain how many of them were certain when the operation began
   * @return how many acknowledged writes are found to be lost
   * @throws WrongResultException if it may not be found
   */
  int found(int found, Losses losses, int certain) {
    int lost = 0;
    if (!kept.getLast().isFoundAs(found)) {
      int seen = matching(unknown, found);
      if (seen >= 0) {
        kept.add(State.now(unknown.remove(seen).version));
      } else {
        lost = takeBack(found, losses);
      }
    }
    if (certain > known) {
      if (losses.concern(key, known, certain)) {
        keepStateAlone();
      }
      known = certain;
    }
    return lost;
  }

  private int takeBack(int found, Losses losses) {
    int place = matching(kept, found);
    // In this order: the second may wait.
    if (place < 0 || !losses.awaitConcern(key, known)) {
      throw new WrongResultException("found=" + found + ", " + this);
    }
    int lost = kept.size() - 1 - place;
    lostNanos = losses.ageNanos(key, known, kept.get(place + 1).nanos);
    kept.subList(place + 1, kept.size()).clear();
    return lost;
  }

  /** Returns how old the oldest of the writes was that were lost last, when they were lost. */
  long lostNanos() {
    return lostNanos;
  }

  private static int matching(List<State> states, int found) {
    for (int place = states.size() - 1; place >= 0; place--) {
      if (states.get(place).isFoundAs(found)) {
        return place;
      }
    }
    return -1;
  }

  /** Takes a write that was acknowledged. */
  void acknowledged(int version) {
    kept.add(State.now(version));
  }

  /** Takes a write of unknown outcome. */
  void unknown(int version) {
    unknown.add(State.now(version));
  }

  /** Says that nothing is under way, and that the state is surely in the pool. */
  void keepStateAlone() {
    kept.subList(0, kept.size() - 1).clear();
  }

  /** Says that what was unknown and has not been seen will not come about any more. */
  void settle() {
    unknown.clear();
  }

  @Override
  public String toString() {
    return "key=%d, kept=%s, unknown=%s, issued=%d, lossesKnown=%d"
        .formatted(key, kept, unknown, issued, known);
  }
}
