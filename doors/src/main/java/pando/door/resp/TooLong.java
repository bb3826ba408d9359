package pando.door.resp;

/**
 * Ends a request that takes too long for an event loop, which has other connections: it is run
 * again in the {@link Background}. The request has changed nothing so far.
 */
final class TooLong extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TooLong() {
    super("a request takes too long for an event loop", null, false, false);
  }
}
