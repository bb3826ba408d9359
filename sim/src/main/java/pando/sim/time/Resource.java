package pando.sim.time;

/**
 * A resource that serves requests one after the other in the order of arrival: a direction of a
 * network card, or a processor. Times are in picoseconds.
 */
public final class Resource {
  private long freeAt;
  private long busy;

  /** Creates a free resource. */
  public Resource() {}

  /**
   * Serves one request.
   *
   * @param arrival time of its arrival
   * @param service time that it takes
   * @return time when it is done
   */
  public long serve(long arrival, long service) {
    freeAt = Math.max(freeAt, arrival) + service;
    busy += service;
    return freeAt;
  }

  /** Stops for a while: serves no request, and does not count as busy. */
  public void pause(long arrival, long picos) {
    freeAt = Math.max(freeAt, arrival) + picos;
  }

  /** Returns when it will be free. */
  public long freeAt() {
    return freeAt;
  }

  /** Returns the total time for which it has served. */
  public long busy() {
    return busy;
  }
}
