package pando.door.resp;

import java.net.SocketAddress;

/**
 * A client: the settings that it has chosen, and what {@code CLIENT LIST} shows of it. Only its
 * event loop changes it; other event loops may read values that are a little old.
 */
final class Client {
  final long id;
  final SocketAddress address;
  final SocketAddress local;
  private final long since = System.nanoTime();
  private final boolean needsPassword;

  String name = "";
  String library = "";
  String libraryVersion = "";
  int database;
  String lastCommand = "";
  boolean isStranger;
  boolean isResp3;

  /** {@code MULTI} was refused, and the commands of that transaction follow. */
  boolean hasRefusedTransaction;

  /** The connection ends once its replies are sent. */
  boolean quits;

  /** The connection has ended. */
  volatile boolean isGone;

  Client(long id, SocketAddress address, SocketAddress local, boolean needsPassword) {
    this.id = id;
    this.address = address;
    this.local = local;
    this.needsPassword = needsPassword;
    this.isStranger = needsPassword;
  }

  /** Forgets what the client has chosen, and that it has given its password. */
  void reset() {
    name = "";
    database = 0;
    isResp3 = false;
    hasRefusedTransaction = false;
    isStranger = needsPassword;
  }

  /** Returns a line of CLIENT LIST. */
  String line() {
    long age = (System.nanoTime() - since) / 1_000_000_000;
    return "id=%d addr=%s laddr=%s name=%s age=%d db=%d cmd=%s user=default lib-name=%s lib-ver=%s resp=%d\n"
        .formatted(
            id,
            Addresses.text(address),
            Addresses.text(local),
            name,
            age,
            database,
            lastCommand,
            library,
            libraryVersion,
            isResp3 ? 3 : 2);
  }
}
