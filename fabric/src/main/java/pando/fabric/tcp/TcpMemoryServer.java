package pando.fabric.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import pando.fabric.base.Fences;
import pando.fabric.layout.ServerLayout;
import pando.fabric.mapped.GrowingMemory;
import pando.fabric.mapped.MemoryServerLink;
import pando.fabric.memory.Atomic16;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.server.HostedMemoryServer;
import pando.fabric.server.MemoryServer;
import pando.fabric.server.PoolMemory;
import pando.fabric.server.PoolOptions;
import pando.fabric.wire.CardAccess;
import pando.fabric.wire.Credentials;
import pando.fabric.wire.Guests;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Role;
import pando.fabric.wire.Sockets;
import pando.fabric.wire.Watchdog;

/**
 * A memory server in this process that compute servers reach by TCP. Runs until it is closed or the
 * process ends; its nodes are lost then. Thread-safe.
 *
 * <p>Without authentication it listens on the loopback interface alone, and any user of the machine
 * can read and change the pool. Takes {@value #CONNECTIONS_MAX} connections, each with a thread and
 * at most two frames of 256 KiB. A peer has 3 seconds to say who it is, 10 for the rest of a
 * request, and 10 to take a response; then it is cut off. Logs those that it refuses.
 */
public final class TcpMemoryServer extends HostedMemoryServer {
  /** Most connections of compute servers at a time. */
  public static final int CONNECTIONS_MAX = 2048;

  /** Most connections at a time without a place: guests, and those that are ending. */
  private static final int OTHERS_MAX = 2 * Guests.MAX;

  private static final long JOIN_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);
  private static final long ACCEPT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final ServerSocketChannel listener;
  private final InetSocketAddress address;
  private final NativeMemory memory;
  private final MemoryServerLink link;
  private final Hello.Welcome welcome;
  private final PeerLimits limits;
  private final @Nullable CardAccess card;
  private final ServerHandshake handshake;
  private final Fences fences = new Fences();
  private final Semaphore places;
  private final Semaphore processors;
  private final Watchdog watchdog;
  private final Map<ServerConnection, Thread> connections = new ConcurrentHashMap<>();
  private final Thread acceptor;

  private TcpMemoryServer(
      ServerSocketChannel listener,
      NativeMemory memory,
      int number,
      PoolOptions options,
      Credentials credentials,
      PeerLimits limits,
      @Nullable CardAccess card) {
    super(MemoryServer.unattended(number, memory.segment(), options, behind(memory, card)));
    ServerLayout layout = MemoryServer.layout(options);
    this.listener = listener;
    this.address =
        new InetSocketAddress(listener.socket().getInetAddress(), listener.socket().getLocalPort());
    this.memory = memory;
    this.limits = limits;
    this.card = card;
    this.places = new Semaphore(limits.connections());
    this.link = new MemoryServerLink(number, memory.segment(), layout, null);
    // Must differ from those of earlier memory servers, whatever their seeds were.
    long incarnation = new SecureRandom().nextLong();
    this.welcome =
        new Hello.Welcome(
            Hello.VERSION,
            Hello.WELCOME,
            number,
            incarnation,
            layout.dramBytes(),
            Atomic16.isAvailable());
    this.handshake = new ServerHandshake(this, credentials);
    // Fair: a CALL must not wait while later ones are served.
    this.processors = new Semaphore(options.processorThreads(), true);
    this.watchdog = Watchdog.start("pando-memory-server-" + number + "-watchdog");
    this.acceptor =
        Thread.ofPlatform()
            .name("pando-memory-server-" + number + "-acceptor")
            .daemon()
            .unstarted(this::accept);
  }

  /** What a card reaches is committed at the start. */
  private static PoolMemory behind(NativeMemory memory, @Nullable CardAccess card) {
    return card == null ? new GrowingMemory(memory) : PoolMemory.COMMITTED;
  }

  /**
   * Starts a memory server without authentication, which only loopback addresses allow.
   *
   * @param address to listen on; port 0 takes a free one
   * @param number its number in the fabric
   * @param options as with authentication
   * @throws IllegalArgumentException if it is no loopback address
   * @throws TcpException if the system refuses to listen there
   */
  public static TcpMemoryServer start(InetSocketAddress address, int number, PoolOptions options) {
    return start(address, number, options, Authentication.none());
  }

  /**
   * Starts a memory server.
   *
   * @param address to listen on; port 0 takes a free one
   * @param number its number in the fabric: its place, from 0, in the list of addresses that
   *     compute servers attach
   * @param options size of the pool, processor threads (as many CALLs are served at a time) and
   *     handlers
   * @param authentication what clients have to prove, and this memory server to them
   * @throws IllegalArgumentException if the authentication's files are of no use, or it does not
   *     suffice for the address
   * @throws TcpException if the system refuses to listen there
   */
  public static TcpMemoryServer start(
      InetSocketAddress address, int number, PoolOptions options, Authentication authentication) {
    return start(address, number, options, authentication, PeerLimits.DEFAULTS);
  }

  /**
   * Starts a memory server whose memory a card reaches, too: for {@link
   * pando.fabric.verbs.VerbsMemoryServer}.
   *
   * @param cards opens the card for DRAM and on-chip region, which are one piece of memory
   */
  @SuppressWarnings("exports") // For pando.fabric.verbs alone.
  public static TcpMemoryServer start(
      InetSocketAddress address,
      int number,
      PoolOptions options,
      Authentication authentication,
      Function<MemorySegment, CardAccess> cards) {
    return start(address, number, options, authentication, PeerLimits.DEFAULTS, cards);
  }

  static TcpMemoryServer start(
      InetSocketAddress address,
      int number,
      PoolOptions options,
      Authentication authentication,
      PeerLimits limits) {
    return start(address, number, options, authentication, limits, null);
  }

  private static TcpMemoryServer start(
      InetSocketAddress address,
      int number,
      PoolOptions options,
      Authentication authentication,
      PeerLimits limits,
      @Nullable Function<MemorySegment, CardAccess> cards) {
    authentication.checkAddress(address);
    PoolOptions.checkNumber(number);
    Credentials credentials = authentication.credentials(Role.MEMORY);
    ServerSocketChannel listener = listen(address);
    try {
      ServerLayout layout = MemoryServer.layout(options);
      NativeMemory memory = NativeMemory.allocate(layout.bytes());
      try {
        CardAccess card =
            cards == null ? null : cards.apply(memory.segment().asSlice(0, layout.mailboxOffset()));
        try {
          TcpMemoryServer server =
              new TcpMemoryServer(listener, memory, number, options, credentials, limits, card);
          server.start();
          return server;
        } catch (RuntimeException | Error e) {
          if (card != null) {
            card.close();
          }
          throw e;
        }
      } catch (RuntimeException | Error e) {
        memory.close();
        throw e;
      }
    } catch (RuntimeException | Error e) {
      Sockets.close(listener);
      throw e;
    }
  }

  private void start() {
    try {
      if (card != null) {
        card.start(this::serveByCard);
      }
      acceptor.start();
    } catch (RuntimeException | Error e) {
      // The system may refuse a thread.
      watchdog.close();
      throw e;
    }
  }

  /** Returns where it listens. */
  public InetSocketAddress address() {
    return address;
  }

  /** Returns where it listens, as an address and a port. */
  @Override
  public String place() {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /** Returns the number of open connections. */
  public int connections() {
    return connections.size();
  }

  @Override
  protected void end() {
    Closing.all(
        () -> Sockets.close(listener),
        watchdog::close,
        this::join,
        link::close,
        () -> connections.keySet().forEach(ServerConnection::awaitNoNativeCall),
        server()::close,
        this::closeCard,
        memory::close);
  }

  private void closeCard() {
    if (card != null) {
      card.close();
    }
  }

  /** Returns the card that reaches the memory, {@code null} if none does. */
  @Nullable CardAccess card() {
    return card;
  }

  /** Serves a CALL, see {@link MemoryServer#serve}. */
  int serve(int function, MemorySegment message, int requestBytes) {
    return server().serve(function, message, requestBytes);
  }

  /** Serves a CALL that came by the card, once a processor is free. */
  private int serveByCard(int function, MemorySegment message, int requestBytes) {
    processors.acquireUninterruptibly();
    try {
      return serve(function, message, requestBytes);
    } finally {
      releaseProcessor();
    }
  }

  PeerLimits limits() {
    return limits;
  }

  Hello.Welcome welcome() {
    return welcome;
  }

  ServerHandshake handshake() {
    return handshake;
  }

  Fences fences() {
    return fences;
  }

  /**
   * Refuses the lower epochs of a compute server from now on, as a {@linkplain
   * pando.fabric.Fabric#fence fence} by another compute server does.
   *
   * @throws IllegalArgumentException if a value is out of its range
   * @throws pando.fabric.FenceFailedException if what runs of a lower epoch does not end in time;
   *     nothing of it begins in any case
   */
  public void fence(int computeServer, long leastEpoch) {
    Fences.checkRange(computeServer, leastEpoch);
    fences.fence(computeServer, leastEpoch);
  }

  /** Gives a connection a place, if there is one. Admins need none, and come for a moment. */
  boolean enter(Hello.Request client) {
    return client.role() == Role.ADMIN || places.tryAcquire();
  }

  /** Takes a place back. */
  void leave(Hello.Request client) {
    if (client.role() != Role.ADMIN) {
      places.release();
    }
  }

  /** Takes a processor for a CALL; returns whether one was free in time. */
  boolean takeProcessor() {
    try {
      return processors.tryAcquire(limits.processorNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Returns whether CALLs wait for a processor. */
  boolean hasCallsWaiting() {
    return processors.hasQueuedThreads();
  }

  /** Gives a processor back. */
  void releaseProcessor() {
    processors.release();
  }

  /** Removes a connection that has ended. */
  void forget(ServerConnection connection) {
    connections.remove(connection);
  }

  private void accept() {
    while (!isClosed()) {
      try {
        serve(listener.accept());
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException | OutOfMemoryError e) {
        // Too many open files or threads; clients that end make room.
        LockSupport.parkNanos(ACCEPT_PAUSE_NANOS);
      }
    }
  }

  /** Serves a client in a thread of its own, unless there are far too many already. */
  private void serve(SocketChannel channel) throws IOException {
    if (connections.size() >= limits.connections() + OTHERS_MAX) {
      handshake.turnAway(channel);
      return;
    }
    Watchdog.Watched watched = watchdog.watch(channel);
    handshake.arrive(watched);
    try {
      ServerConnection connection = new ServerConnection(this, link, watched);
      Thread thread =
          Thread.ofPlatform()
              .name("pando-memory-server-" + link.number() + "-connection")
              .daemon()
              .unstarted(connection);
      connections.put(connection, thread);
      try {
        thread.start();
      } catch (RuntimeException | Error e) {
        connections.remove(connection);
        throw e;
      }
    } catch (RuntimeException | Error e) {
      watched.close();
      throw e;
    }
  }

  /** Waits for the threads; they end as their channels are closed. */
  private void join() {
    long deadline = System.nanoTime() + JOIN_NANOS_MAX;
    join(acceptor, deadline);
    connections.values().forEach(thread -> join(thread, deadline));
  }

  private static void join(Thread thread, long deadline) {
    boolean _ = Closing.join(thread, Duration.ofNanos(deadline - System.nanoTime()));
  }

  private static ServerSocketChannel listen(InetSocketAddress address) {
    try {
      return Sockets.listen(address);
    } catch (IOException e) {
      throw new TcpException("cannot listen: address=" + address + ", " + e.getMessage(), e);
    }
  }
}
