package pando.sim.time;

/**
 * Something that serves one after the other, in the order in which they ask: a direction of a
 * network card, a processor. Times in picoseconds.
 */
public final class Resource {
  private long freeAt;
  private long busy;

  /** Creates one that is free. */
  public Resource() {}

  /**
   * Serves one request.
   *
   * @param arrival when it comes
   * @param service how long it takes
   * @return when it is done
   */
  public long serve(long arrival, long service) {
    freeAt = Math.max(freeAt, arrival) + service;
    busy += service;
    return freeAt;
  }

  /** Stands still: serves nothing for a while, and is not busy. */
  public void pause(long arrival, long picos) {
    freeAt = Math.max(freeAt, arrival) + picos;
  }

  /** Returns when it will be free. */
  public long freeAt() {
    return freeAt;
  }

  /** Returns for how long it has served so far. */
  public long busy() {
    return busy;
  }
}
