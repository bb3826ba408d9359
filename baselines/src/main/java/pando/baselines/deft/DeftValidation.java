package pando.baselines.deft;

import java.util.Locale;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;

/** How a reader without a lock detects a torn READ. */
public enum DeftValidation {
  /**
   * {@link #OPDV} on a fabric that lands 64 bytes as one; else {@link #VERSIONS} with SX locks,
   * {@link #CHECKSUM} with CAS locks.
   */
  AUTO(0),
  /**
   * On-path decoupled versioning (DEFT section 4.4). Every pointer in an inner node has the node's
   * version, which a reader compares with the version in the pointer to the node. Every line of a
   * leaf has a stamp, which a reader compares with that of the adjacent line. Takes one READ. Needs
   * a fabric that lands 64 bytes as one.
   */
  OPDV(1),
  /**
   * The lock word counts exclusive locks of the node, and is READ before and after the node. Takes
   * three READs in one list. On a fabric that lands less than 64 bytes as one, a leaf takes four:
   * its entries are READ twice, and a key is taken from the first READ, its value from the second.
   */
  VERSIONS(2),
  /**
   * A checksum over the whole node. Every reader READs the whole node, and every writer writes the
   * checksum, so writers lock exclusively.
   */
  CHECKSUM(3);

  private final int number;

  DeftValidation(int number) {
    this.number = number;
  }

  /** Returns the number of this validation in the catalogue. It must never change. */
  int number() {
    return number;
  }

  /**
   * Returns this validation; for {@link #AUTO}, the one that it stands for on a fabric.
   *
   * @throws IllegalArgumentException if the fabric or the locks lack what the validation needs
   */
  DeftValidation on(Fabric fabric, boolean sxLocks) {
    Capabilities capabilities = fabric.capabilities();
    boolean landsByLine = capabilities.atomicityBytes() >= DeftLeafLayout.LINE_BYTES;
    if (this == OPDV && !landsByLine) {
      throw new IllegalArgumentException(
          "validation=opdv needs a fabric that lands 64 bytes as one: fabric=%s, atomicityBytes=%s"
              .formatted(fabric.name(), capabilities.atomicityBytes()));
    }
    if (this == VERSIONS && !sxLocks) {
      throw new IllegalArgumentException(
          "locks taken by CAS do not count: validation=versions, sx-locks=off");
    }
    if (this == AUTO) {
      return landsByLine ? OPDV : sxLocks ? VERSIONS : CHECKSUM;
    }
    return this;
  }

  /** Returns whether sessions may change one leaf concurrently, under a shared lock. */
  boolean allowsSharing() {
    return this != CHECKSUM;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
