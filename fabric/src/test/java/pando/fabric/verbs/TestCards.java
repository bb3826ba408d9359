package pando.fabric.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;

/** The card that tests use. */
final class TestCards {
  /** Tag of the tests that use it: these alone run in the machine of the test bed. */
  static final String TAG = "verbs";

  private TestCards() {}

  /**
   * Returns the first card. Without one a test is aborted, or fails where the system property
   * {@code pando.verbs} says that there must be one.
   */
  static String first() {
    if (Boolean.getBoolean("pando.verbs")) {
      return Cards.names().getFirst();
    }
    List<String> cards = namesIfAny();
    assumeTrue(!cards.isEmpty(), "no RDMA card");
    return cards.getFirst();
  }

  private static List<String> namesIfAny() {
    try {
      return Cards.names();
    } catch (VerbsException noLibrary) {
      return List.of();
    }
  }
}
