package pando.sim;

/**
 * Ends a client whose compute server crashed. Thrown by every verb and every wait from then on; for
 * the client's outermost code to catch, as nothing on a crashed machine runs.
 */
public final class ComputeServerCrash extends Error {
  private static final long serialVersionUID = 1L;

  /** Creates it for a compute server. */
  public ComputeServerCrash(int computeServer) {
    super("compute server crashed: number=" + computeServer, null, false, false);
  }
}
