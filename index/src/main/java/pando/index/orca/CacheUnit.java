package pando.index.orca;

import java.util.Locale;

/** What a compute server of ORCA caches of what a lookup READs. */
public enum CacheUnit {
  /** The record alone. */
  RECORDS,
  /** Its segment, as an image of a single segment. */
  SEGMENTS,
  /** Its leaf, which is READ as a whole, as images of pairs of segments. */
  LEAVES;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
