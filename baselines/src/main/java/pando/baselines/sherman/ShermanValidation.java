package pando.baselines.sherman;

import java.util.Locale;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;

/** How a reader without a lock detects that a node it has READ is torn. */
public enum ShermanValidation {
  /** {@link #LINES} where the fabric lands 64 bytes as one, else {@link #CHECKSUM}. */
  AUTO(0),
  /**
   * Every line of 64 bytes has the stamp of the last WRITE of the whole node; a node is whole if
   * all stamps are equal. An entry lies within one line, so that it lands as one. A lookup takes
   * one READ. Needs a fabric that lands 64 bytes as one.
   */
  LINES(1),
  /**
   * The lock word counts the node's changes, and is READ before and after the node. A lookup takes
   * three READs, as in the corrected Sherman that the DEX paper measured.
   */
  VERSIONS(2),
  /**
   * The node has a checksum. A lookup takes one READ and computes the sum; an update takes one more
   * WRITE.
   */
  CHECKSUM(3),
  /**
   * As published: 4-bit versions at both ends of a node and of each entry. Does not detect all torn
   * nodes if a READ does not read memory in the order of addresses. Only in the simulator, to show
   * that.
   */
  ORIGINAL(4);

  private final int number;

  ShermanValidation(int number) {
    this.number = number;
  }

  /** Returns the number of this validation in the catalogue. It must never change. */
  int number() {
    return number;
  }

  /**
   * Returns this validation; for {@link #AUTO}, the one that it stands for on a fabric.
   *
   * @throws IllegalArgumentException if the fabric lacks a capability that the validation needs
   */
  ShermanValidation on(Fabric fabric, boolean partitioned) {
    Capabilities capabilities = fabric.capabilities();
    boolean landsByLine = capabilities.atomicityBytes() >= BLinkLayout.LINE_BYTES;
    if (this == AUTO) {
      return landsByLine ? LINES : CHECKSUM;
    }
    if (!landsByLine && (this == LINES || (this == VERSIONS && partitioned))) {
      throw new IllegalArgumentException(
          "validation=%s%s needs a fabric that lands 64 bytes as one: fabric=%s, atomicityBytes=%s"
              .formatted(
                  this,
                  partitioned ? " with partitions" : "",
                  fabric.name(),
                  capabilities.atomicityBytes()));
    }
    if (this == ORIGINAL && !capabilities.simulated()) {
      throw new IllegalArgumentException(
          "validation=original loses keys, and runs in the simulator alone: fabric="
              + fabric.name());
    }
    return this;
  }

  /** Returns whether the lock word counts the node's changes. */
  boolean countsInLocks() {
    return this == VERSIONS;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
