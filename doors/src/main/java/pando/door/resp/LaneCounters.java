package pando.door.resp;

import org.jspecify.annotations.Nullable;
import pando.index.LastError;

/**
 * What an event loop counts. It alone writes them, without contention; other threads read recent
 * values, not a snapshot.
 */
final class LaneCounters {
  /** Requests that were served, whatever the reply. */
  long served;

  /** Requests that were answered with an error that the client has caused. */
  long refused;

  /** Requests that failed for another reason, such as a full pool. */
  long failed;

  /** The last of all these errors. */
  @Nullable LastError lastError;

  /** Connections that were ended as their bytes were no requests. */
  long broken;

  /** Bytes from clients and to them, without encryption. */
  long bytesIn;

  long bytesOut;

  /** Requests by the places of their commands in the {@link CommandTable}. */
  final long[] commands = new long[CommandTable.SLOTS];

  /** Those of them that were refused before they ran, and that failed as they ran. */
  final long[] rejectedCommands = new long[CommandTable.SLOTS];

  final long[] failedCommands = new long[CommandTable.SLOTS];

  /** Keys that commands found that read, and did not find. */
  long hits;

  long misses;

  /** How long batches took: the requests that one read brought, until their replies are sent. */
  final Durations batches = new Durations();

  /** Keeps an error reply: its code, and what it answers, as the rest may have keys. */
  void keepError(String error, String command) {
    int code = error.indexOf(' ');
    String what = (code < 0 ? error : error.substring(0, code)) + ", " + command;
    lastError = new LastError(what, System.currentTimeMillis());
  }
}
