package pando.door.resp;

/**
 * A command.
 *
 * @param name in capitals
 * @param arity number of arguments with the name, as Redis counts them: -3 is 3 or more
 * @param forStrangers whether it is for clients, too, that have not given the password
 */
record Command(String name, int arity, boolean forStrangers, Action action) {
  /** What a command does. */
  @FunctionalInterface
  interface Action {
    /**
     * Runs the call, and adds its reply.
     *
     * @throws Refusal if the client is told an error
     */
    void run(Call call);
  }

  Command(String name, int arity, Action action) {
    this(name, arity, false, action);
  }

  boolean accepts(int arguments) {
    return arity < 0 ? arguments >= -arity : arguments == arity;
  }
}
