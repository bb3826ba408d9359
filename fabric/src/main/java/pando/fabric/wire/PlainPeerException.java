package pando.fabric.wire;

import java.io.IOException;

/** The other side speaks without TLS where it is needed; it understands a plain answer. */
public final class PlainPeerException extends IOException {
  private static final long serialVersionUID = 1L;

  PlainPeerException() {
    super("the other side speaks without TLS");
  }
}
