package pando.fabric.server;

import pando.fabric.PandoException;

/**
 * A memory server could not serve a CALL: the function is unknown to it, or its handler threw. The
 * memory server goes on; start it with the handlers that the index needs.
 */
public final class CallFailedException extends PandoException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with the memory server, the function and the cause in the text. */
  public CallFailedException(String message) {
    super(message);
  }

  /** Creates the exception for one CALL. */
  public static CallFailedException of(int server, int function, String reason) {
    return new CallFailedException(
        "CALL failed: server=" + server + ", function=" + function + ": " + reason);
  }
}
