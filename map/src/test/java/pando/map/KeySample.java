package pando.map;

import java.util.Arrays;
import java.util.List;

/** Nine keys in ascending order: two below five samples, and two above. */
enum KeySample {
  SMALL(-20, -10, 10, 20, 30, 40, 50, 60, 70),
  DENSE(1, 2, 3, 4, 5, 6, 7, 8, 9),
  ENDS(
      Long.MIN_VALUE,
      Long.MIN_VALUE + 1,
      Long.MIN_VALUE + 2,
      -1,
      0,
      1,
      Long.MAX_VALUE - 2,
      Long.MAX_VALUE - 1,
      Long.MAX_VALUE);

  @SuppressWarnings("ImmutableEnumChecker") // The list is immutable.
  private final List<Long> keys;

  KeySample(long... keys) {
    this.keys = Arrays.stream(keys).boxed().toList();
  }

  List<Long> keys() {
    return keys;
  }
}
