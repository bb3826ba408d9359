package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.door.resp.Command.When;
import pando.door.resp.Transaction.Watched;

/**
 * Commands of transactions: {@code EXEC} operates on the keys of all requests since {@code MULTI}
 * at one moment.
 *
 * <p>Where others change the keys, too, {@code MULTI} is refused, and so is each command up to
 * {@code EXEC} or {@code DISCARD}: clients send all of them before they read a reply, and a
 * transaction that failed must have done nothing.
 */
final class TransactionCommands {
  /** Commands that operate on members of sets, or on another database. */
  private static final Set<String> BEYOND_KEYS =
      Set.of(
          "COPY",
          "RENAME",
          "RENAMENX",
          "SELECT",
          "ZADD",
          "ZCARD",
          "ZLEXCOUNT",
          "ZRANGE",
          "ZRANGEBYLEX",
          "ZREM",
          "ZREMRANGEBYLEX",
          "ZREVRANGEBYLEX",
          "ZSCORE",
          "MEMORY");

  /** What a transaction may take: about as many microseconds, for which others wait. */
  private static final long WORK_MAX = 1 << 20;

  private static final Set<String> NOT_INSIDE = Set.of("SAVE");
  private static final Set<When> ALWAYS = Set.of(When.TRANSACTION);
  private static final Set<When> ENDING = Set.of(When.REFUSED_TRANSACTION);

  private TransactionCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("MULTI", 1, ALWAYS, TransactionCommands::multi),
        new Command("EXEC", 1, ALWAYS, TransactionCommands::exec),
        new Command("DISCARD", 1, ALWAYS, TransactionCommands::discard),
        new Command("WATCH", -2, ALWAYS, TransactionCommands::watch),
        new Command("UNWATCH", 1, TransactionCommands::unwatch));
  }

  private static void multi(RespCall call) {
    if (call.client.isInTransaction()) {
      throw new Refusal("ERR MULTI calls can not be nested");
    }
    of(call).open();
    call.replies.ok();
  }

  private static Transaction of(RespCall call) {
    Transaction its = call.client.transaction;
    if (its == null) {
      its = new Transaction(call.door.waiting());
      call.client.transaction = its;
    }
    return its;
  }

  /**
   * Has a request wait for {@code EXEC}.
   *
   * @throws Refusal if it cannot be run then
   */
  static void add(RespCall call, Command command) {
    if (NOT_INSIDE.contains(command.name())) {
      throw new Refusal("ERR Command not allowed inside a transaction");
    }
    CommandKeys keys = CommandKeys.of(command.name());
    if (keys != null) {
      keys.forEach(call.request, call::checkKey);
    }
    of(call).add(call.request);
    call.replies.simple("QUEUED");
  }

  /**
   * Has {@code EXEC} refuse the client's transaction, if there is one, as a request cannot be run.
   *
   * @return what the client gets
   */
  static Refusal refusal(RespCall call, Refusal why) {
    if (call.request.is(0, "EXEC")) {
      call.client.endTransaction();
      String reason = why.error().replaceFirst("^ERR ", "");
      return new Refusal("EXECABORT Transaction discarded because of: " + reason);
    }
    if (call.client.isInTransaction()) {
      of(call).abort();
    }
    return why;
  }

  private static void discard(RespCall call) {
    if (!call.client.isInTransaction()) {
      throw new Refusal("ERR DISCARD without MULTI");
    }
    call.client.endTransaction();
    call.replies.ok();
  }

  private static void watch(RespCall call) {
    if (call.client.isInTransaction()) {
      throw new Refusal("ERR WATCH inside MULTI is not allowed");
    }
    KeyVersions versions = ((OwnStore) call.store).own().versions();
    for (int i = 1; i < call.request.count(); i++) {
      MemorySegment key = Store.copy(call.key(i));
      int hash = OwnStore.hash(call, i);
      long version = versions.version(hash); // and then the key, so no change is missed
      of(call).watch(new Watched(key, hash, version, call.store.isExpired(key)));
    }
    call.replies.ok();
  }

  private static void unwatch(RespCall call) {
    of(call).unwatch();
    call.replies.ok();
  }

  private static void exec(RespCall call) {
    if (!call.client.isInTransaction()) {
      throw new Refusal("ERR EXEC without MULTI");
    }
    Transaction its = of(call);
    int database = call.client.database;
    boolean ends = true;
    try {
      if (its.isAborted()) {
        throw new Refusal("EXECABORT Transaction discarded because of previous errors.");
      }
      exec(call, its);
      database = call.client.database;
    } catch (TooLong e) {
      if (call.store.isInBackground()) {
        throw new Refusal("ERR the transaction takes too long, as all others wait for it");
      }
      ends = false; // It is run again, in the background.
      throw e;
    } finally {
      call.client.database = database;
      if (ends) {
        its.end();
      }
    }
  }

  private static void exec(RespCall call, Transaction its) {
    call.store.limitWork(WORK_MAX);
    Transaction.Content content = its.content();
    List<RespRequest> requests = content.requests();
    List<Watched> watched = content.watched();
    call.store.work(watched.size());
    @Nullable List<MemorySegment> keys = keys(call, requests);
    if (keys == null) {
      SetLocks locks = ((OwnStore) call.store).locks();
      locks.withAll(() -> call.store.atomically(null, () -> run(call, requests, watched)));
    } else {
      watched.forEach(key -> keys.add(key.key()));
      call.store.atomically(keys, () -> run(call, requests, watched));
    }
  }

  /** Returns the keys of all requests; {@code null} if they operate on others, too. */
  private static @Nullable List<MemorySegment> keys(RespCall call, List<RespRequest> requests) {
    List<MemorySegment> all = new ArrayList<>();
    for (RespRequest request : requests) {
      CommandTable commands = call.door.commands();
      int slot = commands.find(request);
      String name = Objects.requireNonNull(commands.at(slot)).name();
      CommandKeys keys = commands.keysAt(slot);
      boolean isBeyond = keys != null && !keys.areArguments();
      if (isBeyond || BEYOND_KEYS.contains(name)) {
        return null;
      }
      if (keys != null) {
        keys.forEach(
            request, i -> all.add(Store.copy(call.keyspace.key(request, i, call.client.database))));
      }
    }
    return all;
  }

  /** Runs the requests, unless a key that is watched was changed. */
  private static void run(RespCall call, List<RespRequest> requests, List<Watched> watched) {
    KeyVersions versions = ((OwnStore) call.store).own().versions();
    for (Watched key : watched) {
      if (key.version() == KeyVersions.CHANGING
          || versions.version(key.hash()) != key.version()
          || (!key.hadExpired() && call.store.isExpired(key.key()))) {
        call.replies.noArray();
        return;
      }
    }
    call.replies.array(requests.size());
    requests.forEach(request -> call.lane.runInTransaction(request, call.client));
  }

  /** Returns the commands of a door to keys that others change, too. */
  static List<Command> refused() {
    return List.of(
        new Command("MULTI", 1, TransactionCommands::refuseMulti),
        new Command("EXEC", 1, ENDING, TransactionCommands::endRefused),
        new Command("DISCARD", 1, ENDING, TransactionCommands::discardRefused));
  }

  private static void refuseMulti(RespCall call) {
    call.client.hasRefusedTransaction = true;
    throw notSupported("MULTI");
  }

  private static void endRefused(RespCall call) {
    endRefused(call, "EXEC");
    throw new Refusal("EXECABORT Transaction discarded because of previous errors.");
  }

  private static void discardRefused(RespCall call) {
    endRefused(call, "DISCARD");
    call.replies.ok();
  }

  private static void endRefused(RespCall call, String name) {
    if (!call.client.hasRefusedTransaction) {
      throw notSupported(name);
    }
    call.client.hasRefusedTransaction = false;
  }

  private static Refusal notSupported(String name) {
    return Refusal.notSupported(name, Unsupported.NO_TRANSACTIONS);
  }
}
