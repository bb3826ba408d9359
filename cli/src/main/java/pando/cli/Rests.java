package pando.cli;

import java.time.Duration;

/** Says when a door gives memory back: once little is asked for. It is asked at each interval. */
final class Rests {
  static final Duration INTERVAL = Duration.ofSeconds(5);

  /** A door rests when it serves fewer than so many requests in an interval. */
  static final int REQUESTS = 100;

  /** Rests behind one another before memory is given back. */
  static final int FIRST = 2;

  static final int OF_A_MINUTE = 12;

  private long served;
  private int rests;
  private boolean isUsed; // since memory was given back

  /** What is given back. */
  enum Giving {
    NOTHING,
    /** What large requests have left. The caches stay: they serve what is asked now and then. */
    ROOM,
    ALL
  }

  /** Has all be given back at the next rest, because that has failed. */
  void repeat() {
    rests = FIRST - 1;
  }

  /** Looks at how many requests were served until now; returns what is given back. */
  Giving look(long servedNow) {
    long more = servedNow - served;
    served = servedNow;
    isUsed |= more > 0;
    rests = more < REQUESTS ? rests + 1 : 0;
    Giving giving = Giving.NOTHING;
    if (rests == FIRST) {
      giving = Giving.ALL;
    } else if (rests > FIRST && isUsed && (more == 0 || rests % OF_A_MINUTE == 0)) {
      giving = Giving.ROOM;
    }
    isUsed &= giving == Giving.NOTHING;
    return giving;
  }
}
