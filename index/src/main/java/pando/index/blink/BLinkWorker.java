package pando.index.blink;

import pando.fabric.VerbCounters;

/** One session's part at one compute server. */
public interface BLinkWorker extends AutoCloseable {
  /** Returns the verbs it has issued. */
  VerbCounters verbs();

  /** Returns how its descents have gone. */
  DescentCounters descents();

  @Override
  void close();
}
