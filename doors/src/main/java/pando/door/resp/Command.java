package pando.door.resp;

import java.util.Set;

/**
 * A command.
 *
 * @param name in capitals
 * @param arity number of arguments with the name, as Redis counts them: -3 is 3 or more
 * @param allowed when it runs although most commands do not
 */
record Command(String name, int arity, Set<When> allowed, Action action) {
  /** When most commands are refused, or wait. */
  enum When {
    /** The client has not given its password. */
    STRANGER,
    /** {@code MULTI} was refused, and so is what belongs to the transaction. */
    REFUSED_TRANSACTION,
    /** Others wait for {@code EXEC}. */
    TRANSACTION
  }

  /** What a command does. */
  @FunctionalInterface
  interface Action {
    /**
     * Runs the call, and adds its reply.
     *
     * @throws Refusal if the client gets an error
     */
    void run(RespCall call);
  }

  Command(String name, int arity, Action action) {
    this(name, arity, Set.of(), action);
  }

  boolean accepts(int arguments) {
    return arity < 0 ? arguments >= -arity : arguments == arity;
  }

  boolean isAllowed(When when) {
    return allowed.contains(when);
  }
}
