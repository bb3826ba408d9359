package pando.fabric.verbs;

/**
 * The atomics that not every card has, and which of them cards were seen to do as they should.
 *
 * @param maskedCas masked CAS of 8 bytes
 * @param maskedFaa masked FAA of 8 bytes
 * @param maskedCas16 masked CAS of 16 bytes
 */
record Atomics(boolean maskedCas, boolean maskedFaa, boolean maskedCas16) {
  /** None was seen. */
  static final Atomics NONE = new Atomics(false, false, false);

  /** All were seen. */
  static final Atomics ALL = new Atomics(true, true, true);

  /** Returns whether all masked atomics of 8 bytes were seen. */
  boolean isMasked() {
    return maskedCas && maskedFaa;
  }

  /** Returns those that were seen in both places. */
  Atomics and(Atomics other) {
    return new Atomics(
        maskedCas && other.maskedCas,
        maskedFaa && other.maskedFaa,
        maskedCas16 && other.maskedCas16);
  }
}
