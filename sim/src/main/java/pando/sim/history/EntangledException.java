package pando.sim.history;

/** So many operations on one key overlap that the search for an order gives up. */
final class EntangledException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  EntangledException(String message) {
    super(message);
  }
}
