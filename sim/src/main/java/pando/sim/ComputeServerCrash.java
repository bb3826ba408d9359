package pando.sim;

/**
 * Ends a client whose compute server crashed. Thrown by every verb and every wait from then on.
 * Only the client's outermost code should catch it, as no code runs on a crashed machine.
 */
public final class ComputeServerCrash extends Error {
  private static final long serialVersionUID = 1L;

  /** Creates it for a compute server. */
  public ComputeServerCrash(int computeServer) {
    super("compute server crashed: number=" + computeServer, null, false, false);
  }
}
