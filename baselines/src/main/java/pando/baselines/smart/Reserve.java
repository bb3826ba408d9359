package pando.baselines.smart;

import java.util.Locale;

/** How much of the pool an inner node takes. */
enum Reserve {
  /** Room for 256 slots at once, as published: a node grows in place. */
  WHOLE,
  /** 64, 192 or 2,112 bytes: a node that outgrows its place is replaced by one in a larger one. */
  STEPS;

  private static final int SMALL_BYTES = 64;
  private static final int MEDIUM_BYTES = 192;

  /** Bytes of the place of the largest node. */
  static final int LARGE_BYTES = 2_112;

  private static final int[] SIZES = {SMALL_BYTES, MEDIUM_BYTES, LARGE_BYTES};

  /** Returns the sizes of places, in bytes. Leaves take the smallest, whatever nodes do. */
  static int[] sizes() {
    return SIZES.clone();
  }

  /** Returns which of the {@link #sizes} a place of so many bytes has, from 0. */
  static int sizeNumber(int bytes) {
    return bytes == SMALL_BYTES ? 0 : bytes == MEDIUM_BYTES ? 1 : 2;
  }

  /** Returns the bytes of the place of a node that begins with a type. */
  int placeBytes(int type) {
    if (this == WHOLE) {
      return LARGE_BYTES;
    }
    int bytes = NodeLayout.bytes(type);
    return bytes <= SMALL_BYTES ? SMALL_BYTES : bytes <= MEDIUM_BYTES ? MEDIUM_BYTES : LARGE_BYTES;
  }

  /** Returns whether a node can become another type where it is. */
  boolean growsInPlace(int type, int next) {
    return placeBytes(type) == placeBytes(next);
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
