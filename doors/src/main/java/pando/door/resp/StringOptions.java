package pando.door.resp;

import org.jspecify.annotations.Nullable;

/** What {@code SET} or {@code GETEX} is asked for beside the key and the string. */
final class StringOptions {
  private final String command;
  private final boolean isSet;
  private boolean onlyNew;
  private boolean onlyKnown;
  private boolean get;
  private boolean keepsDeadline;
  private boolean persists;

  /** How the deadline is said, and the argument that says it. */
  private @Nullable ExpiryOption deadline;

  private int deadlineAt;

  private StringOptions(String command) {
    this.command = command;
    this.isSet = command.equals("SET");
  }

  /**
   * Reads the options of a request.
   *
   * @param from the first one
   * @throws Refusal if there is one that the command does not have, or if they contradict
   */
  static StringOptions of(RespRequest request, String command, int from) {
    StringOptions options = new StringOptions(command);
    for (int i = from; i < request.count(); i++) {
      if (options.takesDeadline(request, i)) {
        i++;
      } else if (!(options.isSet ? options.takesOfSet(request, i) : options.takes(request, i))) {
        throw Refusal.syntax();
      }
    }
    return options;
  }

  private boolean takesOfSet(RespRequest request, int i) {
    if (request.is(i, "NX")) {
      onlyNew = true;
    } else if (request.is(i, "XX")) {
      onlyKnown = true;
    } else if (request.is(i, "GET")) {
      get = true;
    } else if (request.is(i, "KEEPTTL")) {
      keepsDeadline = true;
    } else {
      return false;
    }
    return !(onlyNew && onlyKnown) && !(keepsDeadline && deadline != null);
  }

  private boolean takes(RespRequest request, int i) {
    persists |= request.is(i, "PERSIST");
    return persists && deadline == null && request.is(i, "PERSIST");
  }

  private boolean takesDeadline(RespRequest request, int i) {
    for (ExpiryOption each : ExpiryOption.values()) {
      if (request.is(i, each.name())) {
        boolean isOther = deadline != null && deadline != each;
        if (isOther || keepsDeadline || persists || i + 1 == request.count()) {
          throw Refusal.syntax();
        }
        deadline = each;
        deadlineAt = i + 1;
        return true;
      }
    }
    return false;
  }

  boolean onlyNew() {
    return onlyNew;
  }

  boolean onlyKnown() {
    return onlyKnown;
  }

  boolean get() {
    return get;
  }

  boolean keepsDeadline() {
    return keepsDeadline;
  }

  boolean persists() {
    return persists;
  }

  /**
   * Returns the deadline in milliseconds since 1970, or {@link Keyspace#NEVER} if there is none.
   *
   * @throws Refusal if it cannot be one
   */
  long deadline(RespCall call) {
    ExpiryOption its = deadline;
    return its == null ? Keyspace.NEVER : its.positive(call, deadlineAt, command);
  }
}
