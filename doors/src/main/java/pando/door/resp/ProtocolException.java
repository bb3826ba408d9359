package pando.door.resp;

/** Bytes that are no request: what comes behind them cannot be told from them. */
final class ProtocolException extends Exception {
  private static final long serialVersionUID = 1L;

  ProtocolException(String message) {
    super(message, null, false, false);
  }
}
