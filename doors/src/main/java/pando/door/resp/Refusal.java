package pando.door.resp;

/**
 * An error that a client gets in place of a reply, with a code in front. Carries no stack trace:
 * clients cause as many as they like.
 */
class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Refusal(String message) {
    super(message, null, false, false);
  }

  /** Returns what the client gets. */
  String error() {
    return String.valueOf(getMessage());
  }

  static Refusal syntax() {
    return new Refusal("ERR syntax error");
  }

  static Refusal wrongType() {
    return new Refusal("WRONGTYPE Operation against a key holding the wrong kind of value");
  }

  static Refusal notAnInteger() {
    return new Refusal("ERR value is not an integer or out of range");
  }

  /** Returns the error for a command that a door does not have. */
  static Refusal notSupported(String command, String reason) {
    return new Refusal("ERR " + command + " is not supported: " + reason);
  }

  static Refusal wrongArguments(String command) {
    return new Refusal("ERR wrong number of arguments for '" + command + "' command");
  }
}
