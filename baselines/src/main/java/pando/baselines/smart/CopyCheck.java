package pando.baselines.smart;

import java.util.Locale;
import pando.fabric.Fabric;

/** How an operation finds out whether an old copy is still right. */
public enum CopyCheck {
  /**
   * A live leaf with the wanted key is right, however it was reached. All else that a copy says is
   * READ again.
   */
  LIFE,
  /**
   * As published: a leaf has a reverse pointer, the address of its slot. If that is the slot
   * through which it was reached, the copy is right, even where it says that a key is absent, or
   * where the tree is changed. Saves a round trip, and loses keys. Only in the simulator, to show
   * that.
   */
  REVERSE;

  /**
   * Returns this check.
   *
   * @throws IllegalArgumentException if it must not be used on the fabric
   */
  CopyCheck on(Fabric fabric) {
    if (this == REVERSE && !fabric.capabilities().simulated()) {
      throw new IllegalArgumentException(
          "check=reverse loses keys, and runs in the simulator alone: fabric=" + fabric.name());
    }
    return this;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
