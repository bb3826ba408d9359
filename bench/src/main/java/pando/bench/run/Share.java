package pando.bench.run;

/**
 * One process's part of a run.
 *
 * @param process number of this process
 * @param processes of the run
 * @param low least key that clients of this process ask for
 * @param high greatest key that they ask for
 */
public record Share(int process, int processes, long low, long high) {
  /** Everything, in one process. */
  public static final Share WHOLE = new Share(0, 1, Long.MIN_VALUE, Long.MAX_VALUE);

  /** Returns whether clients of this process ask for a key. */
  boolean owns(long key) {
    return key >= low && key <= high;
  }

  /** Returns the first client of this process, of those in all. */
  int firstClient(int clients) {
    return clients * process / processes;
  }

  /** Returns the number of clients in this process, of those in all. */
  int clients(int clients) {
    return clients * (process + 1) / processes - firstClient(clients);
  }
}
