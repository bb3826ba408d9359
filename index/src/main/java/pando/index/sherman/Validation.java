package pando.index.sherman;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;

/** How a reader, who takes no lock, tells whether the node that a READ brought is whole. */
public enum Validation {
  /** {@link #LINES} where the fabric lands 64 bytes as one, else {@link #CHECKSUM}. */
  AUTO(0),
  /**
   * Every line of 64 bytes carries the stamp of the last WRITE of the whole node; a node is whole
   * where all are equal. An entry lies within one line, so that it lands as one. One READ; needs a
   * fabric that lands 64 bytes as one.
   */
  LINES(1),
  /**
   * The lock's word counts the node's changes, and is READ before and after the node. Three READs,
   * as the corrected Sherman that the DEX paper measured.
   */
  VERSIONS(2),
  /** A checksum over the node. One READ, a WRITE more for each change, and the sum itself. */
  CHECKSUM(3),
  /**
   * As published: 4-bit versions at both ends of a node and of each entry. Takes a torn node for a
   * whole one wherever READs do not arrive in the order of addresses; for the simulator alone, to
   * show that.
   */
  ORIGINAL(4);

  private final int number;

  Validation(int number) {
    this.number = number;
  }

  /** Returns a number that stays the same. */
  int number() {
    return number;
  }

  /**
   * Returns this, or what {@link #AUTO} stands for on a fabric.
   *
   * @throws IllegalArgumentException if the fabric lacks what it needs
   */
  Validation on(Fabric fabric, boolean partitioned) {
    Capabilities capabilities = fabric.capabilities();
    boolean landsByLine = capabilities.atomicityBytes() >= BLinkLayout.LINE_BYTES;
    if (this == AUTO) {
      return landsByLine ? LINES : CHECKSUM;
    }
    if (!landsByLine && (this == LINES || (this == VERSIONS && partitioned))) {
      throw new IllegalArgumentException(
          "validation="
              + this
              + (partitioned ? " with partitions" : "")
              + " needs a fabric that lands 64 bytes as one: fabric="
              + fabric.name()
              + ", atomicityBytes="
              + capabilities.atomicityBytes());
    }
    if (this == ORIGINAL && !capabilities.simulated()) {
      throw new IllegalArgumentException(
          "validation=original loses keys, and runs in the simulator alone: fabric="
              + fabric.name());
    }
    return this;
  }

  /** Returns whether the word of a node's lock counts the node's changes. */
  boolean countsInLocks() {
    return this == VERSIONS;
  }

  static List<String> names() {
    return Arrays.stream(values()).map(Validation::toString).toList();
  }

  static Validation of(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
