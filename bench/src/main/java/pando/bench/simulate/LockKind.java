package pando.bench.simulate;

import java.util.Locale;

/** How clients that do nothing else take and release a lock. */
public enum LockKind {
  /** CAS until it succeeds, then WRITE; in host memory (Sherman, figure 2). */
  CAS(1 << 20),
  /** The same in the card's memory. */
  CHIP_CAS(LockKind.CHIP_WORDS),
  /** A shared ticket of DEFT's SX lock, in the card's memory: masked FAA, and again. */
  SX_SHARED(LockKind.CHIP_WORDS),
  /** An exclusive ticket: between the two, READs until its turn has come. */
  SX_EXCLUSIVE(LockKind.CHIP_WORDS);

  private static final int CHIP_WORDS = 1 << 15;

  private final int locksMax;

  LockKind(int locksMax) {
    this.locksMax = locksMax;
  }

  /** Returns how many locks there can be. */
  public int locksMax() {
    return locksMax;
  }

  boolean isOnChip() {
    return this != CAS;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
