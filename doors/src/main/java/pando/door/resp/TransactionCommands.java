package pando.door.resp;

import java.util.List;
import java.util.Set;

/**
 * Commands of transactions. {@code MULTI} is refused, and so is each command up to {@code EXEC} or
 * {@code DISCARD}: clients send all of them before they read a reply, and a transaction that failed
 * must have done nothing.
 */
final class TransactionCommands {
  private static final Set<Command.When> ENDING = Set.of(Command.When.REFUSED_TRANSACTION);

  private TransactionCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("MULTI", 1, TransactionCommands::multi),
        new Command("EXEC", 1, ENDING, TransactionCommands::exec),
        new Command("DISCARD", 1, ENDING, TransactionCommands::discard));
  }

  private static void multi(RespCall call) {
    call.client.hasRefusedTransaction = true;
    throw notSupported("MULTI");
  }

  private static void exec(RespCall call) {
    end(call, "EXEC");
    throw new Refusal("EXECABORT Transaction discarded because of previous errors.");
  }

  private static void discard(RespCall call) {
    end(call, "DISCARD");
    call.replies.ok();
  }

  private static void end(RespCall call, String name) {
    if (!call.client.hasRefusedTransaction) {
      throw notSupported(name);
    }
    call.client.hasRefusedTransaction = false;
  }

  private static Refusal notSupported(String name) {
    return Refusal.notSupported(name, Unsupported.NO_TRANSACTIONS);
  }
}
