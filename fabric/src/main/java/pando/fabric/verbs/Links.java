package pando.fabric.verbs;

import pando.fabric.Backoff;

/** The ways of a worker to all memory servers. */
interface Links {
  /** Returns the way to a memory server. */
  Link to(int server);

  /**
   * Posts chains, no two of one connection, and waits until all are complete or have failed.
   *
   * @param chains that have begun and are not empty
   * @param count how many of them
   * @param nanosMax after which the connections are broken, so that the chains fail
   * @param backoff of the worker
   */
  void exchange(Chain[] chains, int count, long nanosMax, Backoff backoff);
}
