package pando.fabric.wire;

import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * Logs the clients that a server refuses, a line for each; but only so many in a while, as
 * strangers can connect as often as they like. Thread-safe.
 */
public final class RefusalLog {
  private static final System.Logger LOG = System.getLogger(RefusalLog.class.getName());
  private static final int LINES_MAX = 20;
  private static final long WHILE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int REASON_MAX = 300;

  private final String server;
  private long start = System.nanoTime();
  private int lines;
  private long leftOut;

  /**
   * Creates a log.
   *
   * @param server what it is called in the lines
   */
  public RefusalLog(String server) {
    this.server = server;
  }

  /**
   * Logs a refusal.
   *
   * @param client address of the client
   * @param reason why; may have parts that the client has chosen
   */
  public void add(String client, String reason) {
    long before = admit(System.nanoTime());
    if (before >= 0) {
      LOG.log(
          Level.WARNING,
          () ->
              server
                  + " refused a client: address="
                  + client
                  + ", because="
                  + inOneLine(reason)
                  + (before == 0 ? "" : ", others before=" + before));
    }
  }

  /** Returns how many lines were left out before this one, or -1 if it is left out, too. */
  private synchronized long admit(long now) {
    if (now - start > WHILE_NANOS) {
      start = now;
      lines = 0;
    }
    if (lines == LINES_MAX) {
      leftOut++;
      return -1;
    }
    lines++;
    long before = leftOut;
    leftOut = 0;
    return before;
  }

  private static String inOneLine(String reason) {
    String visible = reason.replaceAll("[^\\x20-\\x7e]", "?");
    return visible.length() <= REASON_MAX ? visible : visible.substring(0, REASON_MAX) + "...";
  }
}
