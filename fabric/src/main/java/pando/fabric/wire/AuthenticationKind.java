package pando.fabric.wire;

import java.util.Locale;

/** How both sides of a connection prove who they are. */
public enum AuthenticationKind {
  /** Not at all. */
  NONE(0),
  /** Both have the same secret; nothing is encrypted. */
  TOKEN(1),
  /** Both have certificates; all is encrypted. */
  TLS(2);

  private final int code;

  AuthenticationKind(int code) {
    this.code = code;
  }

  /** Returns the kind with a number on the wire. */
  static AuthenticationKind of(int code) throws FrameException {
    for (AuthenticationKind kind : values()) {
      if (kind.code == code) {
        return kind;
      }
    }
    throw new FrameException("unknown authentication: code=" + code);
  }

  /** Returns the number on the wire. */
  int code() {
    return code;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
