package pando.baselines.blink;

import static org.assertj.core.api.Assertions.assertThat;

import pando.fabric.StalledException;
import pando.index.Session;

/** Leaves that a merge has hidden, and that stay so as it cannot end. */
public final class HiddenLeaves {
  private HiddenLeaves() {}

  /** Asserts that a key is read right, or not at all if its leaf is hidden. */
  public static void assertReadOrStalled(Session session, long key, long value) {
    try {
      assertThat(session.get(key)).isTrue();
      assertThat(session.value()).isEqualTo(value);
    } catch (StalledException hidden) {
      assertThat(hidden).hasMessageContaining("no descent found the leaf");
    }
  }
}
