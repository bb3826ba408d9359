package pando.fabric.tcp;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.SpinBackoff;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;
import pando.fabric.base.CallRequest;
import pando.fabric.layout.Regions;
import pando.fabric.mapped.VerbRunner;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;
import pando.fabric.wire.Frame;
import pando.fabric.wire.ResponseReader;

/**
 * Issues verbs by sending them to memory servers, over a connection to each that it needs.
 *
 * <p>All verbs go as lists. A list becomes requests, as many as it needs; those to different memory
 * servers are under way at once, those to the same one go one after the other.
 *
 * <p>A channel closes when its thread is interrupted. So the interrupt of a thread is put aside
 * while a verb runs: one that comes before the verb does not disturb it, and one that comes in its
 * middle costs the connection.
 */
final class TcpWorker implements Worker {
  private static final long CALL_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);

  /** Where the value goes that a single atomic found: nowhere in local memory. */
  private static final long NOWHERE = -1;

  /** Within the operands of a 16-byte masked CAS. */
  private static final int FOUND_16 = 64;

  private final Watchdog watchdog;
  private final RemoteServer[] servers;
  private final TcpOptions options;
  private final MemorySegment memory;
  private final RandomGenerator random;
  private final VerbCounters counters = new VerbCounters();
  private final Backoff backoff = new SpinBackoff();
  private final @Nullable TcpConnection[] connections;
  private final long verbNanos;

  /** The only verb of what is no list. */
  private final VerbList single = new VerbList();

  private final VerbPieces pieces = new VerbPieces();

  /** Connections that the requests under way go by. */
  private final TcpConnection[] used;

  private int usedCount;
  private long found;
  private boolean interrupted;
  private boolean closed;

  TcpWorker(
      Watchdog watchdog,
      RemoteServer[] servers,
      TcpOptions options,
      MemorySegment memory,
      RandomGenerator random) {
    this.watchdog = watchdog;
    this.servers = servers;
    this.options = options;
    this.memory = memory;
    this.random = random;
    this.connections = new TcpConnection[servers.length];
    this.used = new TcpConnection[servers.length];
    this.verbNanos = options.verbTimeout().toNanos();
  }

  @Override
  public MemorySegment memory() {
    return memory;
  }

  @Override
  public void read(long remote, long local, int bytes) {
    scatter(single.clear().read(remote, local, bytes));
  }

  @Override
  public void write(long remote, long local, int bytes) {
    scatter(single.clear().write(remote, local, bytes));
  }

  @Override
  public long cas(long remote, long expected, long desired) {
    return atomic(single.clear().cas(remote, expected, desired, NOWHERE));
  }

  @Override
  public long faa(long remote, long addend) {
    return atomic(single.clear().faa(remote, addend, NOWHERE));
  }

  @Override
  public long maskedCas(long remote, long compare, long compareMask, long swap, long swapMask) {
    return atomic(single.clear().maskedCas(remote, compare, compareMask, swap, swapMask, NOWHERE));
  }

  @Override
  public long maskedFaa(long remote, long addend, long boundaries) {
    return atomic(single.clear().maskedFaa(remote, addend, boundaries, NOWHERE));
  }

  @Override
  public boolean maskedCas16(long remote, long operands) {
    scatter(single.clear().maskedCas16(remote, operands));
    return matches(operands) && matches(operands + Long.BYTES);
  }

  /** Returns whether half of what a 16-byte masked CAS found is what it compared with. */
  private boolean matches(long operands) {
    long difference = Words.get(memory, operands + FOUND_16) ^ Words.get(memory, operands);
    return (difference & Words.get(memory, operands + 2 * Long.BYTES)) == 0;
  }

  @Override
  public void post(VerbList list) {
    list.requireOneServer();
    scatter(list);
  }

  @Override
  public void scatter(VerbList list) {
    checkOpen();
    for (int i = 0; i < list.size(); i++) {
      checkRemote(list, i);
      checkLocal(list, i);
    }
    run(list);
  }

  private long atomic(VerbList list) {
    checkOpen();
    checkRemote(list, 0);
    run(list);
    return found;
  }

  @Override
  public int call(int server, int function, long message, int requestBytes) {
    checkOpen();
    if (server < 0 || server >= servers.length) {
      throw new IllegalArgumentException(
          "no such memory server: server=" + server + ", memoryServers=" + servers.length);
    }
    CallRequest.check(memory, function, message, requestBytes);
    counters.calls++;
    counters.roundTrips++;
    counters.bytesOut += requestBytes;
    TcpConnection connection = connection(server);
    connection.call(function, memory, message, requestBytes);
    used[0] = connection;
    usedCount = 1;
    exchange(false, CALL_NANOS_MAX);
    ResponseReader response = connection.response();
    if (response.status() == Frame.CALL_FAILED) {
      throw new CallFailedException(response.text());
    }
    if (response.status() == Frame.BUSY) {
      throw new StalledException(
          "no processor took the CALL: " + connection.server() + ", function=" + function);
    }
    checkDone(connection);
    int responseBytes = response.detail();
    response.take(memory, message, responseBytes);
    counters.bytesIn += responseBytes;
    return responseBytes;
  }

  @Override
  public VerbCounters counters() {
    return counters;
  }

  @Override
  public Backoff backoff() {
    return backoff;
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  @Override
  public void close() {
    closed = true;
    for (TcpConnection connection : connections) {
      if (connection != null) {
        connection.close();
      }
    }
  }

  /** Checks that neither this worker nor its fabric is closed. */
  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("worker is closed");
    }
    if (watchdog.isClosed()) {
      throw new IllegalStateException("fabric is closed: name=" + TcpFabric.NAME);
    }
  }

  /** Puts the interrupt of this thread aside until the end of the verb. */
  void keepInterrupt() {
    interrupted |= Thread.interrupted();
  }

  private void run(VerbList list) {
    if (list.size() == 0) {
      return;
    }
    VerbList sent = pieces.of(list);
    boolean repeatable = readsAlone(list);
    int start = 0;
    while (start < sent.size()) {
      int end = writeRequests(sent, start);
      try {
        exchange(repeatable, verbNanos);
      } catch (StalledException e) {
        // What went in earlier requests has taken effect.
        throw start == 0 || repeatable ? e : someSent(e);
      }
      for (int i = 0; i < usedCount; i++) {
        checkDone(used[i]);
      }
      takeResults(sent, start, end);
      start = end;
    }
    count(list);
  }

  /**
   * Writes verbs into requests, until one does not fit.
   *
   * @return number of the first verb that is not in them
   */
  private int writeRequests(VerbList list, int start) {
    usedCount = 0;
    int end = start;
    while (end < list.size() && add(list, end)) {
      end++;
    }
    for (int i = 0; i < usedCount; i++) {
      used[i].request().beginPayloads();
    }
    for (int i = start; i < end; i++) {
      if (list.kind(i) == Kind.WRITE) {
        connection(list, i).request().payload(memory, list.local(i), list.length(i));
      }
    }
    for (int i = 0; i < usedCount; i++) {
      used[i].finish();
    }
    return end;
  }

  private boolean add(VerbList list, int index) {
    TcpConnection connection = connection(list, index);
    if (!isUsed(connection)) {
      connection.request().begin();
      used[usedCount++] = connection;
    }
    return connection.request().add(list, index, memory);
  }

  private boolean isUsed(TcpConnection connection) {
    for (int i = 0; i < usedCount; i++) {
      if (used[i].server().number() == connection.server().number()) {
        return true;
      }
    }
    return false;
  }

  /** Sends the requests of all used connections, and waits for the responses of all. */
  private void exchange(boolean repeatable, long nanos) {
    keepInterrupt();
    try {
      for (int i = 0; i < usedCount; i++) {
        used[i].connect();
      }
      RuntimeException failure = null;
      int sent = 0;
      while (sent < usedCount && failure == null) {
        try {
          used[sent].send(nanos);
          sent++;
        } catch (RuntimeException e) {
          failure = sent == 0 || repeatable ? e : unknownAfter(e);
        }
      }
      // Also after a failure, so that no response is left for the next request.
      for (int i = 0; i < sent; i++) {
        try {
          used[i].receive(repeatable, nanos);
        } catch (RuntimeException e) {
          failure = firstOf(failure, e);
        }
      }
      if (failure != null) {
        throw failure;
      }
    } finally {
      if (interrupted) {
        interrupted = false;
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Returns what verbs to other memory servers make of a failure. */
  private static RuntimeException unknownAfter(RuntimeException failure) {
    return failure instanceof StalledException stalled ? someSent(stalled) : failure;
  }

  private static UnknownOutcomeException someSent(StalledException failure) {
    return new UnknownOutcomeException("some of the verbs were sent", failure);
  }

  private static RuntimeException firstOf(@Nullable RuntimeException first, RuntimeException next) {
    if (first == null) {
      return next;
    }
    first.addSuppressed(next);
    return first;
  }

  private static void checkDone(TcpConnection connection) {
    ResponseReader response = connection.response();
    switch (response.status()) {
      case Frame.DONE -> {}
      case Frame.OUTSIDE, Frame.MISALIGNED ->
          throw new InvalidAddressException(
              "refused by the memory server: "
                  + connection.server()
                  + ", verb="
                  + response.detail()
                  + ", status="
                  + response.status());
      default -> {
        connection.close();
        throw new TcpException(
            "refused by the memory server: "
                + connection.server()
                + ", status="
                + response.status()
                + ", reason="
                + response.text());
      }
    }
  }

  private void takeResults(VerbList list, int start, int end) {
    for (int i = start; i < end; i++) {
      ResponseReader response = connection(list, i).response();
      long local = list.local(i);
      switch (list.kind(i)) {
        case READ -> response.take(memory, local, list.length(i));
        case WRITE -> {}
        case MASKED_CAS_16 -> response.take(memory, local + FOUND_16, 2 * Long.BYTES);
        case CAS, FAA, MASKED_CAS, MASKED_FAA -> {
          found = response.takeWord();
          if (local != NOWHERE) {
            Words.setUnaligned(memory, local, found);
          }
        }
      }
    }
  }

  private void count(VerbList list) {
    for (int i = 0; i < list.size(); i++) {
      Kind kind = list.kind(i);
      switch (kind) {
        case READ -> counters.countRead(list.length(i));
        case WRITE -> counters.countWrite(list.length(i));
        default -> counters.countAtomic(kind);
      }
    }
    counters.roundTrips++;
  }

  private static boolean readsAlone(VerbList list) {
    for (int i = 0; i < list.size(); i++) {
      if (list.kind(i) != Kind.READ) {
        return false;
      }
    }
    return true;
  }

  private void checkRemote(VerbList list, int index) {
    long remote = list.remote(index);
    int bytes = list.length(index);
    int server = Regions.server(remote);
    if (server >= servers.length) {
      throw Regions.noSuchServer(remote, servers.length);
    }
    if (list.kind(index).isAtomic()) {
      Regions.checkAligned(remote, bytes);
    }
    Regions.check(servers[server].dramBytes(), remote, bytes);
  }

  private void checkLocal(VerbList list, int index) {
    long local = list.local(index);
    int bytes = list.length(index);
    if (list.kind(index) == Kind.MASKED_CAS_16) {
      VerbRunner.checkOperands16(local);
      bytes = VerbRunner.OPERANDS_16_BYTES;
    }
    Objects.checkFromIndexSize(local, bytes, memory.byteSize());
  }

  private TcpConnection connection(VerbList list, int index) {
    return connection(GlobalAddress.server(list.remote(index)));
  }

  private TcpConnection connection(int server) {
    TcpConnection connection = connections[server];
    if (connection == null) {
      connection =
          new TcpConnection(this, servers[server], watchdog, options.lostAfter().toNanos());
      connections[server] = connection;
    }
    return connection;
  }
}
