package pando.sim;

import java.util.Locale;

/** The networks of a cluster. */
public enum NetworkKind {
  /**
   * Network cards serve verbs, as in RDMA: without the memory servers' processors, with atomics in
   * the card, and 64 bytes at a time.
   */
  CARDS,
  /** Memory servers' processors serve verbs that come by TCP, 8 bytes at a time. */
  TCP;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
