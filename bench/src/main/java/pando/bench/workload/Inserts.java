package pando.bench.workload;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The records to insert: those after the loaded ones, dealt to all clients of a run in turn, so
 * that no two clients insert the same record and clients need no coordination.
 *
 * <p>Thread-safe; each client must draw only with its own number.
 */
public final class Inserts {
  /** Longs between two clients' counts, so that they share no cache line. */
  private static final int STRIDE = 16;

  private final long loaded;
  private final int clients;
  private final int firstClient;
  private final int localClients;
  private final AtomicLongArray drawn;

  /**
   * Creates the supply.
   *
   * @param loaded records that are there before the first insert
   * @param clients clients of the run, in all processes
   * @param firstClient first client of this process
   * @param localClients clients of this process
   */
  public Inserts(long loaded, int clients, int firstClient, int localClients) {
    this.loaded = loaded;
    this.clients = clients;
    this.firstClient = firstClient;
    this.localClients = localClients;
    drawn = new AtomicLongArray(localClients * STRIDE);
  }

  /** Draws a record for a client of this process to insert. */
  long next(int client) {
    int slot = (client - firstClient) * STRIDE;
    long round = drawn.getPlain(slot);
    drawn.setRelease(slot, round + 1);
    return loaded + round * clients + client;
  }

  /**
   * Returns whether a record may be there: it was loaded, or drawn by a client of this process, or
   * is one that a client of another process may have drawn.
   */
  public boolean mayExist(long record) {
    if (record < 0) {
      return false;
    }
    if (record < loaded) {
      return true;
    }
    long round = (record - loaded) / clients;
    int client = (int) ((record - loaded) % clients);
    int local = client - firstClient;
    boolean elsewhere = local < 0 || local >= localClients;
    return elsewhere || round < drawn.getAcquire(local * STRIDE);
  }
}
