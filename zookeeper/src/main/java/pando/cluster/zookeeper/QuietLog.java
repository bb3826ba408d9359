package pando.cluster.zookeeper;

import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * ZooKeeper's log, of which only errors are of use here: it logs each lost connection as a warning,
 * by several loggers, and a hundred lines at its start.
 */
final class QuietLog {
  /** Kept, as the level would go away with it. */
  static final Logger LOG = Logger.getLogger("org.apache.zookeeper");

  private QuietLog() {}

  static void use() {
    LOG.setLevel(Level.SEVERE);
  }
}
