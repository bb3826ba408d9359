package pando.index.host;

import pando.fabric.VerbCounters;

/** One session's part at one compute server. */
public interface HostedWorker extends AutoCloseable {
  /** Returns the verbs it has issued. */
  VerbCounters verbs();

  /** Returns how its descents have gone. */
  DescentCounters descents();

  @Override
  void close();
}
