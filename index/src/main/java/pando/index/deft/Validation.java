package pando.index.deft;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;

/** How a reader, who takes no lock, tells whether what a READ brought is of one moment. */
public enum Validation {
  /**
   * {@link #OPDV} where the fabric lands 64 bytes as one; else {@link #VERSIONS}, or {@link
   * #CHECKSUM} without locks that count.
   */
  AUTO(0),
  /**
   * On-path decoupled versioning (DEFT section 4.4): every pointer of an inner node carries the
   * node's version, to be compared with that in the pointer to it; every line of a leaf a stamp, to
   * be compared with that of the line beside it. One READ; needs a fabric that lands 64 bytes as
   * one.
   */
  OPDV(1),
  /**
   * The lock's word counts those who had the node exclusively, and is READ before and after. Three
   * READs in one list, and four where the fabric lands less than 64 bytes as one: a leaf's entries
   * are read twice, the key of one counts from the first and its value from the second time.
   */
  VERSIONS(2),
  /**
   * A checksum over the whole node, which every READ must bring and every writer must write: so
   * writers have it exclusively.
   */
  CHECKSUM(3);

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
  Validation on(Fabric fabric, boolean sxLocks) {
    Capabilities capabilities = fabric.capabilities();
    boolean landsByLine = capabilities.atomicityBytes() >= LeafLayout.LINE_BYTES;
    if (this == OPDV && !landsByLine) {
      throw new IllegalArgumentException(
          "validation=opdv needs a fabric that lands 64 bytes as one: fabric="
              + fabric.name()
              + ", atomicityBytes="
              + capabilities.atomicityBytes());
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

  /** Returns whether writers of one leaf may work side by side. */
  boolean allowsSharing() {
    return this != CHECKSUM;
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
