package pando.door.resp;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.door.resp.Command.When;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.journal.DataFolder;

/**
 * What an event loop has for all of its connections, as it serves one at a time: a session of the
 * index, room for what is read, and the replies. An operation of the index blocks the event loop
 * for as long as it takes: microseconds, where the pool is in this process or machine, and round
 * trips where operations go over a network. A request of many operations goes on in the {@link
 * Background}, whose threads have a lane each.
 */
final class RespLane implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(RespLane.class.getName());
  private static final int INPUT_BYTES = 256 << 10;

  /** Requests that are taken apart before the first of them is run. */
  private static final int AHEAD_MAX = 16;

  /** A request alone that has no more arguments has one key. */
  private static final int FEW_ARGUMENTS = 3;

  /** Keys of requests with more arguments, and longer keys, are not expected. */
  private static final int EXPECTED_ARGUMENTS_MAX = 64;

  private static final int EXPECTED_BYTES_MAX = 256;

  /** What a request may take on an event loop: about as many microseconds. */
  private static final int WORK_AT_ONCE = 4096;

  /** What each argument counts. */
  private static final int ARGUMENT_WORK = 4;

  final Door door;
  final LaneCounters counters;
  final byte[] input;

  /** Requests that a connection has taken apart, and not run yet. */
  final RespRequest[] ahead;

  final byte[] number = new byte[1 + Ascii.INTEGER_BYTES_MAX];
  final Replies replies;
  final Store store;
  private final boolean isInBackground;

  /** What waits for the disk; {@code null} if nothing is ever on it. */
  private final @Nullable DiskWaits disk;

  /** Requests that wait for those behind them; {@code null} if none does. */
  private final @Nullable RespBatch batch;

  private final List<MemorySegment> expected = new ArrayList<>();

  // Of the request that runs: the slot of its command, -1 if it has none, and where errors count.
  private int slot = -1;
  private long[] errors;

  private RespLane(Door door, boolean isInBackground) {
    this.door = door;
    this.isInBackground = isInBackground;
    this.input = isInBackground ? RespReader.NOTHING : new byte[INPUT_BYTES];
    this.ahead = Stream.generate(RespRequest::new).limit(AHEAD_MAX).toArray(RespRequest[]::new);
    this.replies = new Replies(door.blocks());
    this.counters = door.newCounters();
    this.errors = counters.failedCommands;
    this.store =
        door.keyspace().newStore(task -> door.background().run(lane -> task.accept(lane.store)));
    DataFolder folder = door.folder();
    this.disk = folder == null ? null : new DiskWaits(folder.log());
    this.batch = door.keyspace().goesTogether() && !isInBackground ? new RespBatch(this) : null;
  }

  /** Returns what an event loop has. */
  static RespLane ofEventLoop(Door door) {
    return new RespLane(door, false);
  }

  /** Returns what a thread has whose requests may take as long as they like. */
  static RespLane inBackground(Door door) {
    return new RespLane(door, true);
  }

  /** Forgets the replies, what they depend on, and the requests that wait. */
  void clear() {
    replies.clear();
    store.forget();
    if (batch != null) {
      batch.clear();
    }
  }

  /** Returns the place in the log that must be on the disk before the replies may be sent. */
  long dependsOn() {
    return store.dependsOn();
  }

  /** Returns whether all before a place in the log is on the disk. */
  boolean isSafe(long place) {
    return disk == null || disk.isSafe(place);
  }

  /** Returns what waits for the disk; of a door that has a log. */
  DiskWaits disk() {
    return Objects.requireNonNull(disk);
  }

  /** Returns whether requests wait for those behind them. */
  boolean hasWaiting() {
    return batch != null && !batch.isEmpty();
  }

  /** Runs the requests that wait, and adds their replies. */
  void runWaiting() {
    if (batch != null) {
      batch.run();
    }
  }

  /**
   * Runs a request, and adds its reply; or has it wait for those behind it, until one is of another
   * kind, they are many, or {@link #runWaiting}.
   *
   * @return {@code false} if it takes too long for an event loop, and is to be run in the
   *     background
   * @throws ProtocolException if the client cannot be one of Redis
   */
  boolean serve(RespCall call) throws ProtocolException {
    if (batch != null) {
      if (batch.add(call)) {
        return true;
      }
      batch.run();
    }
    replies.begin(call.client.isResp3);
    store.begin(call.client, isInBackground ? Long.MAX_VALUE : WORK_AT_ONCE);
    try {
      run(call);
    } catch (TooLong e) {
      replies.cut();
      return false;
    } catch (RuntimeException e) {
      replies.cut();
      fail(call.client, e);
    }
    return true;
  }

  /** Has the store expect the keys of requests that were taken apart. */
  void expect(RespClient client, int requests) {
    if (batch != null || (requests == 1 && ahead[0].count() <= FEW_ARGUMENTS)) {
      return;
    }
    try {
      for (int i = 0; i < requests; i++) {
        addExpected(client, ahead[i]);
      }
      store.expect(expected);
    } finally {
      expected.clear();
    }
  }

  private void addExpected(RespClient client, RespRequest request) {
    CommandKeys keys = door.commands().keysAt(door.commands().find(request));
    if (keys != null && request.count() <= EXPECTED_ARGUMENTS_MAX) {
      keys.forEach(request, key -> addExpected(client, request, key));
    }
  }

  private void addExpected(RespClient client, RespRequest request, int key) {
    if (request.length(key) <= EXPECTED_BYTES_MAX) {
      expected.add(door.keyspace().key(request, key, client.database));
    }
  }

  /** Begins the reply to a request that has waited. */
  void beginReply(RespClient client, int commandSlot) {
    slot = commandSlot;
    errors = counters.failedCommands;
    replies.begin(client.isResp3);
  }

  /** Counts a request that waits, and is allowed; returns the slot of its command. */
  int count(RespCall call) {
    int found = door.commands().find(call.request);
    counters.commands[found]++;
    Command command = door.commands().at(found);
    call.client.lastCommand = command == null ? "" : command.name();
    return found;
  }

  /** Puts an error in the place of the reply that was begun. */
  void fail(RespClient client, RuntimeException failure) {
    switch (failure) {
      case Refusal e -> refuse(e.error());
      case IllegalArgumentException e -> refuse("ERR " + e.getMessage());
      case PoolFullException e -> fail("OOM the pool is full: " + e.getMessage());
      case UnknownOutcomeException e ->
          fail("ERR failed, and may have changed a key: " + e.getMessage());
      case PandoException e -> fail("ERR " + e.getMessage());
      default -> {
        LOG.log(Level.ERROR, "a request failed: command=" + client.lastCommand, failure);
        fail("ERR the request failed: " + failure);
      }
    }
  }

  private void refuse(String error) {
    counters.refused++;
    error(error);
  }

  private void fail(String error) {
    counters.failed++;
    error(error);
  }

  private void error(String error) {
    Command command = slot < 0 ? null : door.commands().at(slot);
    if (command != null) {
      errors[slot]++;
    }
    counters.keepError(
        error, command == null ? "a command that Pando does not have" : command.name());
    replies.error(error);
  }

  private void run(RespCall call) throws ProtocolException {
    RespClient client = call.client;
    boolean isInTransaction = client.isInTransaction();
    Command command;
    try {
      command = checked(call);
      if (isInTransaction && !command.isAllowed(When.TRANSACTION)) {
        TransactionCommands.add(call, command);
        return;
      }
    } catch (Refusal e) {
      throw TransactionCommands.refusal(call, e);
    }
    errors = counters.failedCommands;
    carryOut(command, call);
  }

  /**
   * Returns the command of a request.
   *
   * @throws Refusal if there is none, or it must not run
   */
  private Command checked(RespCall call) throws ProtocolException {
    RespRequest request = call.request;
    slot = -1;
    int found = door.commands().find(request);
    Command command = door.commands().at(found);
    if (command == null) {
      checkHttp(request);
      throw door.unsupported().refusal(request);
    }
    slot = found;
    errors = counters.rejectedCommands;
    if (!isInBackground) { // else it was counted before
      counters.commands[slot]++;
    }
    call.client.lastCommand = command.name();
    if (!command.accepts(request.count())) {
      throw Refusal.wrongArguments(command.name().toLowerCase(Locale.ROOT));
    }
    if (call.client.isStranger && !command.isAllowed(When.STRANGER)) {
      throw new Refusal("NOAUTH Authentication required.");
    }
    if (call.client.hasRefusedTransaction && !command.isAllowed(When.REFUSED_TRANSACTION)) {
      throw new Refusal(
          "ERR not carried out: MULTI was refused, and neither EXEC nor DISCARD has come since");
    }
    return command;
  }

  private void carryOut(Command command, RespCall call) {
    CommandKeys keys = door.commands().keysAt(slot);
    store.work((long) ARGUMENT_WORK * call.request.count());
    if (keys == null || !keys.isWrite()) {
      command.action().run(call);
      return;
    }
    store.beginChange(call, keys);
    try {
      command.action().run(call);
    } finally {
      store.endChange(call, keys);
    }
  }

  /**
   * Runs a request that has waited for {@code EXEC}, and adds its reply, which is a part of that of
   * {@code EXEC}.
   *
   * @throws RuntimeException if the transaction must be undone: the store has failed, or the
   *     request has ended half-way
   */
  void runInTransaction(RespRequest request, RespClient client) {
    int ofTransaction = slot;
    RespCall call = new RespCall(this, client, request);
    slot = door.commands().find(request);
    replies.beginPart();
    try {
      carryOut(Objects.requireNonNull(door.commands().at(slot)), call);
    } catch (HalfWay e) {
      throw e;
    } catch (Refusal e) {
      fail(client, e);
    } finally {
      slot = ofTransaction;
    }
  }

  /** A page in a browser could make it send lines to a server on this machine. */
  private static void checkHttp(RespRequest request) throws ProtocolException {
    if (request.is(0, "POST") || request.is(0, "HOST:")) {
      throw new ProtocolException("this is no HTTP server");
    }
  }

  /** Closes the session, with the room that it keeps; a request that follows opens another one. */
  @Override
  public void close() {
    store.close();
  }
}
