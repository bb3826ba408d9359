package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.VerbList.Outcome;
import pando.fabric.Worker;
import pando.fabric.base.ListWorker;
import pando.fabric.base.MaskedWords;
import pando.fabric.memory.Utf8;
import pando.fabric.server.CallFailedException;
import pando.fabric.verbs.Abi.IbvMr;

/**
 * Issues verbs by a card: a list goes as one chain to each memory server, of which the last verb
 * alone completes. A CALL goes as a message. While it is served, empty WRITEs find out whether the
 * memory server is still there, as nothing else would say that it is not.
 *
 * <p>No card has masked atomics that all cards have. Each is emulated by CAS with a guess, which is
 * repeated with what was found until it took place or the compared bits differ. So nothing behind a
 * masked atomic is sent to the same memory server before it is done.
 */
final class VerbsWorker extends ListWorker {
  private static final int READ_ATTEMPTS_MAX = 3;

  /** Longest wait for the end of a CALL. */
  private static final long CALL_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);

  /** After so long a wait for a CALL, the memory server is probed, and so on. */
  private static final long PROBE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** How long a broken queue pair has to flush what is under way. */
  private static final long FLUSH_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final VerbsFabric owner;
  private final Device device;
  private final Worker control;
  private final RegisteredMemory message;
  private final CompletionQueue completions;
  private final Region local;
  private final long[] dramBytes;
  private final long verbNanos;
  private final @Nullable CardConnection[] connections;

  /** Connections that the verbs under way go by. */
  private final CardConnection[] used;

  private int usedCount;

  /** For each verb of a piece of a list, its number in the chain. */
  private int[] places = new int[CardConnection.CHAIN_MAX];

  private long nextNumber = 1;

  /** Held during a list, so that what it uses is not given back meanwhile. */
  private final ReentrantLock using = new ReentrantLock();

  private boolean released;

  /**
   * Creates a worker without connections.
   *
   * @param control worker of the control connections, with a message of memory
   */
  VerbsWorker(
      VerbsFabric owner,
      Device device,
      Worker control,
      RegisteredMemory message,
      long[] dramBytes,
      long verbNanos,
      MemorySegment memory,
      RandomGenerator random,
      Backoff backoff) {
    super(dramBytes, memory, random, backoff);
    this.owner = owner;
    this.device = device;
    this.control = control;
    this.message = message;
    this.dramBytes = dramBytes;
    this.verbNanos = verbNanos;
    this.connections = new CardConnection[dramBytes.length];
    this.used = new CardConnection[dramBytes.length];
    this.completions = new CompletionQueue(device, CardConnection.DEPTH * dramBytes.length);
    try {
      this.local = device.register(memory, IbvMr.LOCAL_WRITE);
    } catch (RuntimeException | Error e) {
      completions.close();
      throw e;
    }
  }

  @Override
  protected void run(VerbList list) {
    using.lock();
    try {
      checkOpen();
      checkKinds(list);
      runPieces(list);
    } finally {
      using.unlock();
    }
  }

  private static void checkKinds(VerbList list) {
    for (int i = 0; i < list.size(); i++) {
      if (list.kind(i) == Kind.MASKED_CAS_16) {
        throw new UnsupportedOperationException("no card has it: verb=" + list.kind(i));
      }
    }
  }

  private void runPieces(VerbList list) {
    boolean repeatable = list.isReadsAlone();
    int start = 0;
    while (start < list.size()) {
      int end;
      try {
        end = runPiece(list, start, repeatable);
      } catch (StalledException | FencedException e) {
        // What went in earlier chains has taken effect.
        throw start == 0 || repeatable ? e : someSent(e);
      }
      counters().roundTrips += start == 0 ? 0 : 1;
      start = end;
    }
  }

  private static UnknownOutcomeException someSent(RuntimeException because) {
    return new UnknownOutcomeException("some of the verbs were sent", because);
  }

  /** Runs as many verbs as one chain to each memory server holds; returns the end of them. */
  private int runPiece(VerbList list, int start, boolean repeatable) {
    for (int attempt = 1; true; attempt++) {
      int end = gather(list, start);
      exchange(verbNanos);
      for (int i = start; i < end; i++) {
        list.setOutcome(i, take(list, i, places[i - start]));
      }
      CardConnection failed = firstFailed();
      if (failed == null) {
        for (int i = start; i < end; i++) {
          finish(list, i, places[i - start]);
        }
        return end;
      }
      RuntimeException failure = failure(failed);
      disconnectFailed();
      if (!repeatable || !(failure instanceof UnknownOutcomeException)) {
        boolean someDone = !repeatable && (usedCount > 1 || failed.failedAt() > 0);
        throw someDone && failure instanceof FencedException ? someSent(failure) : failure;
      }
      if (attempt == READ_ATTEMPTS_MAX) {
        throw new StalledException("READs are not answered: " + failure.getMessage());
      }
    }
  }

  /** Adds verbs to chains, until one does not fit; returns its number. */
  private int gather(VerbList list, int start) {
    usedCount = 0;
    int end = start;
    while (end < list.size() && add(list, end, end - start)) {
      end++;
    }
    return end;
  }

  private boolean add(VerbList list, int index, int place) {
    CardConnection connection = connection(GlobalAddress.server(list.remote(index)));
    if (!isUsed(connection)) {
      connection.connect();
      connection.begin();
      used[usedCount++] = connection;
    }
    if (!connection.hasRoom()) {
      return false;
    }
    if (place == places.length) {
      places = Arrays.copyOf(places, 2 * place);
    }
    places[place] = connection.size();
    add(list, index, connection);
    return true;
  }

  private static void add(VerbList list, int index, CardConnection connection) {
    long remote = list.remote(index);
    switch (list.kind(index)) {
      case READ -> connection.read(remote, list.local(index), list.length(index));
      case WRITE -> connection.write(remote, list.local(index), list.length(index));
      case CAS -> connection.cas(remote, list.operand(index, 0), list.operand(index, 1));
      case FAA -> connection.faa(remote, list.operand(index, 0));
      case MASKED_CAS, MASKED_FAA -> {
        long guess = firstGuess(list, index);
        connection.emulated(remote, guess, desired(list, index, guess));
      }
      case MASKED_CAS_16 -> throw new AssertionError(list.kind(index));
    }
  }

  /** Returns the word that is most likely there: all bits that are not compared are 0. */
  private static long firstGuess(VerbList list, int index) {
    return list.kind(index) == Kind.MASKED_CAS
        ? list.operand(index, 0) & list.operand(index, 1)
        : 0;
  }

  /** Returns what a masked atomic makes of a word. */
  private static long desired(VerbList list, int index, long word) {
    return list.kind(index) == Kind.MASKED_CAS
        ? MaskedWords.swapped(word, list.operand(index, 2), list.operand(index, 3))
        : MaskedWords.sum(word, list.operand(index, 0), list.operand(index, 1));
  }

  /** Returns whether a masked atomic stores where it finds a word. */
  private static boolean stores(VerbList list, int index, long word) {
    return list.kind(index) == Kind.MASKED_FAA
        || MaskedWords.matches(word, list.operand(index, 0), list.operand(index, 1));
  }

  private boolean isUsed(CardConnection connection) {
    for (int i = 0; i < usedCount; i++) {
      if (used[i].equals(connection)) {
        return true;
      }
    }
    return false;
  }

  /** Sends the chains of all used connections, and waits until they are complete. */
  private void exchange(long nanosMax) {
    post();
    long deadline = nanoTime() + nanosMax;
    long nextProbe = nanoTime() + PROBE_NANOS;
    boolean broken = false;
    // A lane's other threads go on even if all verbs of this one complete at once.
    backoff().pause(0);
    for (int attempt = 1; isUnderWay(); attempt++) {
      if (poll() > 0) {
        attempt = 1;
      } else if (nanoTime() - deadline > 0 || (owner.isClosed() && !broken)) {
        breakUp(broken);
        broken = true;
        deadline = nanoTime() + FLUSH_NANOS_MAX;
      } else {
        if (nanoTime() - nextProbe > 0) {
          used[0].probe();
          nextProbe = nanoTime() + PROBE_NANOS;
        }
        backoff().pause(attempt);
      }
    }
  }

  private void post() {
    boolean posted = false;
    try {
      for (int i = 0; i < usedCount; i++) {
        used[i].post(nextNumber);
        nextNumber += CardConnection.CHAIN_MAX;
      }
      posted = true;
    } finally {
      if (!posted) {
        // The card must not write to local memory when the caller goes on.
        disconnectUsed();
      }
    }
  }

  private boolean isUnderWay() {
    for (int i = 0; i < usedCount; i++) {
      if (used[i].isUnderWay()) {
        return true;
      }
    }
    return false;
  }

  private int poll() {
    int count = completions.poll();
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < usedCount; j++) {
        used[j].complete(completions, i);
      }
    }
    return count;
  }

  /**
   * Makes what is under way complete.
   *
   * @param again whether queue pairs were broken before, and have not flushed
   */
  private void breakUp(boolean again) {
    for (int i = 0; i < usedCount; i++) {
      if (used[i].isUnderWay() && again) {
        used[i].giveUp();
      } else if (used[i].isUnderWay()) {
        used[i].breakUp();
      }
    }
  }

  /** Takes the result of a verb that was done; returns what became of it. */
  private Outcome take(VerbList list, int index, int place) {
    CardConnection connection = connection(GlobalAddress.server(list.remote(index)));
    Status failure = connection.failure();
    if (failure != null && place >= connection.failedAt()) {
      return failure.isDoneNever() ? Outcome.NOT_DONE : Outcome.UNKNOWN;
    }
    Kind kind = list.kind(index);
    if (!kind.isAtomic()) {
      return Outcome.DONE;
    }
    long found = connection.found(place);
    if (isEmulated(kind) && found != firstGuess(list, index) && stores(list, index, found)) {
      return Outcome.NOT_DONE;
    }
    setFound(list.local(index), found);
    return Outcome.DONE;
  }

  private static boolean isEmulated(Kind kind) {
    return kind == Kind.MASKED_CAS || kind == Kind.MASKED_FAA;
  }

  /** Repeats the CAS of a masked atomic until it is done. */
  private void finish(VerbList list, int index, int place) {
    if (!isEmulated(list.kind(index))) {
      return;
    }
    CardConnection connection = connection(GlobalAddress.server(list.remote(index)));
    long guess = firstGuess(list, index);
    long found = connection.found(place);
    while (found != guess && stores(list, index, found)) {
      guess = found;
      found = cas(connection, list, index, guess);
    }
    setFound(list.local(index), found);
    list.setOutcome(index, Outcome.DONE);
  }

  private long cas(CardConnection connection, VerbList list, int index, long guess) {
    usedCount = 1;
    used[0] = connection;
    connection.begin();
    connection.cas(list.remote(index), guess, desired(list, index, guess));
    exchange(verbNanos);
    counters().atomics++;
    counters().roundTrips++;
    Status status = connection.failure();
    if (status != null) {
      list.setOutcome(index, status.isDoneNever() ? Outcome.NOT_DONE : Outcome.UNKNOWN);
      RuntimeException failure = failure(connection);
      disconnectFailed();
      boolean someDone = list.size() > 1;
      throw someDone && failure instanceof FencedException ? someSent(failure) : failure;
    }
    return connection.found(0);
  }

  private @Nullable CardConnection firstFailed() {
    for (int i = 0; i < usedCount; i++) {
      if (used[i].failure() != null) {
        return used[i];
      }
    }
    return null;
  }

  private void disconnectUsed() {
    for (int i = 0; i < usedCount; i++) {
      used[i].disconnect();
    }
  }

  private void disconnectFailed() {
    for (int i = 0; i < usedCount; i++) {
      if (used[i].failure() != null) {
        used[i].disconnect();
      }
    }
  }

  /** Returns what a failed chain means. */
  private RuntimeException failure(CardConnection connection) {
    if (owner.isClosed()) {
      return new IllegalStateException("fabric is closed: name=" + VerbsFabric.NAME);
    }
    Status status = Objects.requireNonNull(connection.failure());
    String text = "verb " + connection.failedAt() + " failed: status=" + status + ", " + connection;
    if (status.isLocal()) {
      return new IllegalStateException(text);
    }
    if (status == Status.RECEIVER_NOT_READY) {
      return new StalledException("no processor takes the CALL: " + text);
    }
    return status.isRefused() ? refused(connection, text) : new UnknownOutcomeException(text);
  }

  private static RuntimeException refused(CardConnection connection, String text) {
    MemoryServerLostException lost =
        new MemoryServerLostException("the memory server refuses a verb that is in order: " + text);
    try {
      connection.disconnect();
      connection.connect();
    } catch (FencedException | MemoryServerLostException e) {
      return e;
    } catch (PandoException e) {
      lost.addSuppressed(e);
    }
    return lost;
  }

  private CardConnection connection(int server) {
    CardConnection connection = connections[server];
    if (connection == null) {
      connection =
          new CardConnection(
              device, completions, local, control, message, server, dramBytes[server]);
      connections[server] = connection;
    }
    return connection;
  }

  @Override
  public int call(int server, int function, long local, int requestBytes) {
    using.lock();
    try {
      checkOpen();
      checkCall(server, connections.length, function, local, requestBytes);
      int responseBytes = answer(connection(server), function, local, requestBytes);
      counters().countCall(requestBytes, responseBytes);
      return responseBytes;
    } finally {
      using.unlock();
    }
  }

  private int answer(CardConnection connection, int function, long local, int requestBytes) {
    connection.connect();
    connection.begin();
    connection.call(function, local, requestBytes);
    used[0] = connection;
    usedCount = 1;
    exchange(CALL_NANOS_MAX);
    if (connection.failure() != null) {
      RuntimeException failure = failure(connection);
      disconnectFailed();
      throw failure;
    }
    int bytes = connection.answerBytes();
    if (!connection.isServed()) {
      throw new CallFailedException(Utf8.read(memory(), local, bytes));
    }
    return bytes;
  }

  @Override
  protected void checkOpen() {
    super.checkOpen();
    if (released || owner.isClosed()) {
      throw new IllegalStateException("fabric is closed: name=" + VerbsFabric.NAME);
    }
  }

  /** Gives the queue pairs back, once a list that is under way has ended. */
  void release() {
    using.lock();
    try {
      if (released) {
        return;
      }
      released = true;
      // In this order, and none if one before it failed: what the card still uses is not freed.
      closeConnections();
      local.close();
      completions.close();
      control.close();
      message.close();
    } finally {
      using.unlock();
    }
  }

  private void closeConnections() {
    for (CardConnection connection : connections) {
      if (connection != null) {
        connection.close();
      }
    }
  }

  @Override
  public void close() {
    super.close();
    release();
    owner.forget(this);
  }
}
