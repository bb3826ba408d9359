package pando.client;

import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.Op;
import pando.client.wire.StatusWord;
import pando.fabric.StalledException;
import pando.fabric.memory.StackRoom;
import pando.fabric.tcp.Authentication;
import pando.fabric.wire.Introduction;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.Role;
import pando.fabric.wire.Watchdog;
import pando.index.Metered;
import pando.index.bytes.ByteStrings;

/**
 * Connects to the compute servers of an index. It asks one of them which server serves which keys,
 * and sends each operation to the server of its key. It has one connection to each server.
 *
 * <pre>{@code
 * try (PandoClient client = PandoClient.connect("host:7480,host2:7480", ClientOptions.defaults());
 *     ClientSession session = client.session()) { // one for each thread
 *   session.put(1, 10);
 * }
 * }</pre>
 *
 * <p>Thread-safe; each thread has a {@link ClientSession} or a {@link ClientBatch} of its own.
 */
public final class PandoClient implements AutoCloseable {
  private final List<String> seeds;
  private final ClientOptions options;
  private final Introduction introduction;
  private final Watchdog watchdog;
  private final long number = new SecureRandom().nextLong();
  private final AtomicLong sequence = new AtomicLong();
  private final AtomicInteger turn = new AtomicInteger(new SecureRandom().nextInt(1 << 16));
  private final Map<String, Connection> connections = new ConcurrentHashMap<>();

  /** Is held while routes are asked for. */
  private final ReentrantLock refreshing = new ReentrantLock();

  private volatile @Nullable RouteTable table;
  private volatile boolean closed;

  private PandoClient(List<String> seeds, ClientOptions options) {
    this.seeds = seeds;
    this.options = options;
    this.introduction =
        new Introduction(
            Protocol.OPERATIONS,
            options.authentication().credentials(Role.CLIENT),
            Role.CLIENT,
            null);
    this.watchdog = Watchdog.start("pando-client-watchdog");
  }

  /**
   * Connects to an index.
   *
   * @param addresses HOST:PORT of one or more of its compute servers, with commas between
   * @throws IllegalArgumentException if one is no address, or the authentication's files are of no
   *     use
   * @throws ClientException if none of them answers, accepts this client, or may be connected with
   *     so weak an authentication
   */
  public static PandoClient connect(String addresses, ClientOptions options) {
    PandoClient client = new PandoClient(Addresses.list(addresses), options);
    try {
      client.readRoutes();
      return client;
    } catch (RuntimeException | Error e) {
      client.close();
      throw e;
    }
  }

  private void readRoutes() {
    List<String> reasons = new ArrayList<>();
    RouteTable found = ask(seeds, Long.MIN_VALUE, reasons);
    if (found == null) {
      throw new ClientException("no compute server answers: " + reasons);
    }
    table = found;
  }

  /** Opens a session for one thread. */
  public ClientSession session() {
    checkOpen();
    return new ClientSession(this);
  }

  /** Opens a batch for one thread. */
  public ClientBatch batch() {
    checkOpen();
    return new ClientBatch(this);
  }

  /**
   * Returns the byte strings that the compute servers serve. Closing them closes no connection.
   *
   * <p>Their sessions differ from others as {@link ClientSession}s do. {@link
   * pando.index.bytes.ByteSession#floor} and the like ask the next compute server if the first one
   * has no entry in its range: each answer is linearizable, the two together are not. Values have
   * up to 480 KiB. If a compute server's process has stored a longer one, {@code value()} and scans
   * that reach it throw {@link ClientException}; after a change that was done, {@code value()}
   * throws {@link pando.fabric.UnknownOutcomeException}.
   *
   * @throws IllegalStateException if they serve words
   * @throws pando.fabric.StalledException if none answers
   */
  public ByteStrings byteStrings() {
    checkOpen();
    Call status = readStatus();
    if (status.status[StatusWord.STRINGS] == 0) {
      throw AnswerFailures.words(status.server());
    }
    return new ClientStrings(
        this,
        Math.clamp(status.status[StatusWord.KEY_BYTES_MAX], 0, ClientFrame.KEY_BYTES_MAX),
        Math.clamp(status.status[StatusWord.VALUE_BYTES_MAX], 0, ClientFrame.VALUE_BYTES_MAX));
  }

  /**
   * Returns whether the compute servers serve byte strings, and not words.
   *
   * @throws pando.fabric.StalledException if none answers
   */
  public boolean servesByteStrings() {
    checkOpen();
    return readStatus().status[StatusWord.STRINGS] != 0;
  }

  private Call readStatus() {
    Call call = new Call();
    call.begin(ClientFrame.STATUS);
    call.key = Long.MIN_VALUE;
    new Dispatch(this).run(call);
    return call;
  }

  /** Returns what can be watched of the index from here. It has no fabric and no verbs. */
  public Metered watched() {
    return new MeteredClient(this);
  }

  /** Returns who serves which keys, as this client knows it; may be old. */
  public Routes routes() {
    return table().routes();
  }

  /** Returns how each compute server is that this client knows and that answers. */
  public List<ServerStatus> status() {
    List<ServerStatus> all = new ArrayList<>();
    for (Connection connection : table().servers()) {
      Call call = new Call();
      call.begin(ClientFrame.STATUS);
      if (isAnswered(connection, call)) {
        all.add(
            new ServerStatus(
                connection.address(),
                call.text,
                call.epoch,
                call.status[StatusWord.CONNECTIONS],
                call.status[StatusWord.ANSWERED],
                call.status[StatusWord.FAILED]));
      }
    }
    return all;
  }

  /**
   * Has each compute server write what it has changed to the pool. On return all is there that was
   * acknowledged before the call, also where a compute server is lost later.
   *
   * @throws pando.fabric.UnknownOutcomeException if one was lost meanwhile, or may have been: what
   *     it had not written is lost
   * @throws pando.fabric.StalledException if one does not answer
   * @throws pando.fabric.PandoException if one could not write all
   */
  public void flush() {
    checkOpen();
    boolean strings = servesByteStrings();
    long start = System.nanoTime();
    RouteTable known = table();
    refresh(known, known.routes().epoch());
    known = table();
    for (long newest = flush(known.routes(), strings); newest > known.routes().epoch(); ) {
      // A compute server may have given keys to one that is not among these.
      if (System.nanoTime() - start > patienceNanos()) {
        throw new StalledException(
            "no compute server knows who serves which keys now: epoch=%s, known=%s"
                .formatted(newest, known.routes().epoch()));
      }
      refresh(known, newest);
      known = table();
      newest = flush(known.routes(), strings);
    }
  }

  /** Has each compute server write; returns the newest epoch of what they know, or 0. */
  private long flush(Routes known, boolean strings) {
    long newest = flush(Long.MIN_VALUE, strings);
    // Where there are no routes one serves all keys.
    for (Routes.Route route : known.routes()) {
      newest = Math.max(newest, route.low() == Long.MIN_VALUE ? 0 : flush(route.low(), strings));
    }
    return known.isPartitioned() ? newest : 0;
  }

  private long flush(long key, boolean strings) {
    Call call = flushOf(key, strings);
    new Dispatch(this).run(call);
    return call.epoch;
  }

  private static Call flushOf(long key, boolean strings) {
    if (strings) {
      ByteCall call = new ByteCall();
      call.flush(key);
      return call;
    }
    Call call = new Call();
    call.operation(Op.FLUSH, key, 0, 0);
    return call;
  }

  /** Returns whether it is closed. */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Closes all connections. Operations that are under way in other threads fail, changes with an
   * unknown outcome; later ones throw {@link IllegalStateException}. A second call does nothing.
   */
  @Override
  public void close() {
    StackRoom.WORDS.check();
    closed = true;
    connections.values().forEach(Connection::close);
    watchdog.close();
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the client is closed");
    }
  }

  RouteTable table() {
    RouteTable known = table;
    if (known == null) {
      throw new IllegalStateException("not connected yet");
    }
    return known;
  }

  /**
   * Asks for routes, unless another thread has done so since some were read. Keeps those it has if
   * none answers with some of this epoch or a later one.
   */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  void refresh(RouteTable seen, long epoch) {
    refreshing.lock();
    try {
      checkOpen();
      if (table == seen) {
        SequencedSet<String> addresses = new LinkedHashSet<>();
        seen.servers().forEach(server -> addresses.add(server.address()));
        addresses.addAll(seeds);
        RouteTable found = ask(List.copyOf(addresses), epoch, new ArrayList<>());
        if (found != null) {
          table = found;
        }
      }
    } finally {
      refreshing.unlock();
    }
  }

  /**
   * Asks one after the other, from another one each time, until one has routes.
   *
   * @param epoch least epoch of what they are
   * @param reasons receives why the others have none
   */
  private @Nullable RouteTable ask(List<String> addresses, long epoch, List<String> reasons) {
    int first = turn.getAndIncrement() & Integer.MAX_VALUE;
    for (int i = 0; i < addresses.size(); i++) {
      Connection connection = connection(addresses.get((first + i) % addresses.size()));
      Call call = new Call();
      call.begin(ClientFrame.ROUTES);
      if (isAnswered(connection, call)) {
        Routes routes = call.routes;
        if (routes != null && routes.epoch() >= epoch) {
          return new RouteTable(routes, connection, targets(routes), first);
        }
      } else {
        reasons.add(connection.address() + ": " + call.text);
      }
    }
    return null;
  }

  /** Sends a call and waits; returns whether it was answered. */
  private static boolean isAnswered(Connection connection, Call call) {
    try {
      connection.send(call);
      connection.flush();
      connection.await(call);
    } catch (IOException e) {
      call.end(Call.State.NOT_DONE, String.valueOf(e.getMessage()));
    }
    return call.state() == Call.State.ANSWERED;
  }

  private @Nullable Connection[] targets(Routes routes) {
    @Nullable Connection[] targets = new Connection[routes.routes().size()];
    for (int i = 0; i < targets.length; i++) {
      String address = routes.routes().get(i).address();
      targets[i] = address.isEmpty() ? null : connection(address);
    }
    return targets;
  }

  private Connection connection(String address) {
    Connection its = connections.computeIfAbsent(address, each -> new Connection(this, each));
    if (closed) {
      its.close();
    }
    return its;
  }

  Authentication authentication() {
    return options.authentication();
  }

  Introduction introduction() {
    return introduction;
  }

  Watchdog watchdog() {
    return watchdog;
  }

  long answerNanos() {
    return options.answerTimeout().toNanos();
  }

  long patienceNanos() {
    return options.patience().toNanos();
  }

  /** Returns the number that its requests have. */
  long number() {
    return number;
  }

  /** Returns the number of the next request. */
  long nextSequence() {
    return sequence.incrementAndGet();
  }
}
