package pando.door.resp;

/** Bytes that are no request: nobody knows where they end, and the next request begins. */
final class ProtocolException extends Exception {
  private static final long serialVersionUID = 1L;

  ProtocolException(String message) {
    super(message, null, false, false);
  }
}
