package pando.sim.history;

/** Too many operations on one key overlap; the search for an order has given up. */
final class EntangledException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  EntangledException(String message) {
    super(message);
  }
}
