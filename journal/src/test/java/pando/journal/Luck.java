package pando.journal;

import java.util.random.RandomGenerator;

/** What a crash keeps of what nobody has forced. */
enum Luck {
  NOTHING,
  ALL,
  SOME;

  /** Draws one; half of them are {@link #SOME}. */
  static Luck draw(RandomGenerator random) {
    return switch (random.nextInt(4)) {
      case 0 -> NOTHING;
      case 1 -> ALL;
      default -> SOME;
    };
  }

  /** Draws whether one thing of it is kept. */
  boolean keeps(RandomGenerator random) {
    return this == ALL || (this == SOME && random.nextBoolean());
  }
}
