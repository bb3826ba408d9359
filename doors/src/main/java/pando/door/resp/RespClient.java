package pando.door.resp;

import java.net.SocketAddress;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A client: the settings that it has chosen, and what {@code CLIENT LIST} shows of it. Only its
 * event loop changes it; other event loops may read values that are a little old.
 */
final class RespClient {
  final long id;
  final SocketAddress address;
  final SocketAddress local;
  private final long since = System.nanoTime();

  /** When it has sent something, or taken a reply. */
  long activeAt = since;

  /** Bytes of requests that have not ended, and of the one that runs. */
  int requestBytes;

  /** Bytes of replies that are held for it. */
  long heldBytes;

  private final boolean needsPassword;
  private final Runnable closing;

  String name = "";
  String library = "";
  String libraryVersion = "";
  int database;
  String lastCommand = "";
  boolean isStranger;
  boolean isResp3;

  /** {@code MULTI} was refused, and the commands of that transaction follow. */
  boolean hasRefusedTransaction;

  /** What waits for {@code EXEC}; {@code null} before the first {@code MULTI} or {@code WATCH}. */
  @Nullable Transaction transaction;

  /** The connection ends once its replies are sent. */
  boolean quits;

  /** The connection has ended. */
  volatile boolean isGone;

  /**
   * Welcomes a client.
   *
   * @param closing closes its connection
   */
  RespClient(
      long id,
      SocketAddress address,
      SocketAddress local,
      boolean needsPassword,
      Runnable closing) {
    this.id = id;
    this.address = address;
    this.local = local;
    this.needsPassword = needsPassword;
    this.isStranger = needsPassword;
    this.closing = closing;
  }

  /** Closes its connection at once; of any thread. */
  void end() {
    closing.run();
  }

  /** Forgets what the client has chosen, and that it has given its password. */
  void reset() {
    name = "";
    database = 0;
    isResp3 = false;
    hasRefusedTransaction = false;
    isStranger = needsPassword;
    endTransaction();
  }

  /** Returns whether requests wait for {@code EXEC}. */
  boolean isInTransaction() {
    Transaction its = transaction;
    return its != null && its.isOpen();
  }

  /** Forgets the requests that wait for {@code EXEC}, and the keys that are watched. */
  void endTransaction() {
    Transaction its = transaction;
    if (its != null) {
      its.end();
    }
  }

  /** Returns a line of CLIENT LIST, with the fields of Redis. */
  String line() {
    long now = System.nanoTime();
    StringBuilder line = new StringBuilder();
    field(line, "id", id);
    field(line, "addr", AddressText.text(address));
    field(line, "laddr", AddressText.text(local));
    line.append("fd=-1 ");
    field(line, "name", name);
    field(line, "age", seconds(now - since));
    field(line, "idle", seconds(now - activeAt));
    field(line, "flags", isInTransaction() ? "x" : "N");
    field(line, "db", database);
    line.append("sub=0 psub=0 ssub=0 ");
    field(line, "multi", waiting());
    field(line, "qbuf", requestBytes);
    line.append("qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 ");
    field(line, "omem", heldBytes);
    field(line, "tot-mem", requestBytes + heldBytes);
    line.append("events=r ");
    field(line, "cmd", lastCommand.toLowerCase(Locale.ROOT));
    line.append("user=default redir=-1 ");
    field(line, "resp", isResp3 ? 3 : 2);
    field(line, "lib-name", library);
    return line + "lib-ver=" + libraryVersion + "\n";
  }

  /** Returns how many requests wait for {@code EXEC}, -1 if none can. */
  private int waiting() {
    Transaction its = transaction;
    return its != null && its.isOpen() ? its.size() : -1;
  }

  private static void field(StringBuilder line, String name, Object value) {
    line.append(name).append('=').append(value).append(' ');
  }

  private static long seconds(long nanos) {
    return nanos / 1_000_000_000;
  }
}
