package pando.client.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.client.wire.StatusWord;
import pando.fabric.Fabric;
import pando.fabric.lane.LaneLoop;
import pando.fabric.memory.Closing;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpException;
import pando.fabric.wire.Hello;
import pando.fabric.wire.Role;
import pando.fabric.wire.Sockets;
import pando.fabric.wire.Watchdog;
import pando.index.RangeIndex;
import pando.index.bytes.ByteStrings;

/**
 * A compute server's service for clients: serves an index of words or byte strings to {@link
 * pando.client.PandoClient}s, until it is closed. Thread-safe.
 *
 * <p>Each of its lanes is a thread that serves the clients it was given: it reads their requests,
 * carries out up to {@value #SESSIONS_PER_LANE} operations at a time, each with a session of its
 * own, and sends the results. So it takes {@value #SESSIONS_PER_LANE} sessions of each compute
 * server in this process for each lane.
 *
 * <p>Without authentication it listens on the loopback interface alone, where any user of the
 * machine can read and change the index. Takes {@value #CONNECTIONS_MAX} connections. A client has
 * 3 seconds to say who it is, 10 for the rest of a request or to take results, and a goodbye after
 * 10 minutes of silence.
 */
public final class ClientService implements AutoCloseable {
  /** Most connections at a time. */
  public static final int CONNECTIONS_MAX = ServiceLimits.CONNECTIONS_MAX;

  /** Most lanes. */
  public static final int LANES_MAX = 16;

  /** Operations of a lane at a time. */
  public static final int SESSIONS_PER_LANE = 16;

  private static final int GUESTS_MAX = 512;
  private static final long ACCEPT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final ServiceFacts facts;
  private final ServerSocketChannel listener;
  private final InetSocketAddress address;
  private final ServiceLimits limits;
  private final Semaphore places;
  private final Watchdog watchdog;
  private final ServiceReception reception;
  private final Set<SocketChannel> guests = ConcurrentHashMap.newKeySet();
  private final List<ServiceLane> lanes = new ArrayList<>();
  private final AtomicInteger turn = new AtomicInteger();
  private final Thread acceptor;
  private volatile boolean closing;
  private boolean closed;

  private ClientService(
      ServiceIndex index,
      ServerSocketChannel listener,
      Authentication authentication,
      Supplier<Routes> routes,
      ServiceLimits limits) {
    this.facts = new ServiceFacts(index, routes, this::statusWord);
    this.listener = listener;
    this.address =
        new InetSocketAddress(listener.socket().getInetAddress(), listener.socket().getLocalPort());
    this.limits = limits;
    this.places = new Semaphore(limits.connections());
    this.reception = new ServiceReception(authentication.credentials(Role.COMPUTE), limits, places);
    this.watchdog = Watchdog.start("pando-client-service-watchdog");
    this.acceptor =
        Thread.ofPlatform().name("pando-client-service-acceptor").daemon().unstarted(this::accept);
  }

  /** Returns one lane for each processor, {@value #LANES_MAX} at most. */
  public static int defaultLanes() {
    return Math.min(Runtime.getRuntime().availableProcessors(), LANES_MAX);
  }

  /**
   * Starts a service.
   *
   * @param index stays open until the service is closed; its fabric's lanes are those of this
   *     process, not of a simulation
   * @param address to listen on; port 0 takes a free one
   * @param authentication what clients have to prove, and this server to them; with TLS this
   *     process has the role {@code compute}, clients {@code client} or {@code compute}
   * @param routes gives who serves which keys, as it is known now; may be old. Called by lanes: it
   *     must neither wait nor fail
   * @param lanes 1 to {@value #LANES_MAX}
   * @throws IllegalArgumentException if the authentication's files are of no use, or it does not
   *     suffice for the address, or there cannot be so many lanes
   * @throws TcpException if the system refuses to listen there
   */
  public static ClientService start(
      RangeIndex index,
      InetSocketAddress address,
      Authentication authentication,
      Supplier<Routes> routes,
      int lanes) {
    return start(
        ServiceIndex.of(index), address, authentication, routes, lanes, ServiceLimits.DEFAULTS);
  }

  /**
   * Starts a service of byte strings, as {@link #start(RangeIndex, InetSocketAddress,
   * Authentication, Supplier, int)} does one of words. Clients reach it by {@link
   * pando.client.PandoClient#byteStrings}.
   *
   * @param strings stay open until the service is closed; keys of up to 65,535 bytes, and values of
   *     up to 480 KiB, go to clients and come from them
   */
  public static ClientService start(
      ByteStrings strings,
      InetSocketAddress address,
      Authentication authentication,
      Supplier<Routes> routes,
      int lanes) {
    return start(
        ServiceIndex.of(strings), address, authentication, routes, lanes, ServiceLimits.DEFAULTS);
  }

  static ClientService start(
      ServiceIndex index,
      InetSocketAddress address,
      Authentication authentication,
      Supplier<Routes> routes,
      int lanes,
      ServiceLimits limits) {
    if (lanes < 1 || lanes > LANES_MAX) {
      throw new IllegalArgumentException(
          "invalid number of lanes: lanes=" + lanes + ", maximum=" + LANES_MAX);
    }
    authentication.checkAddress(address);
    ServerSocketChannel listener = listen(address);
    try {
      ClientService service = new ClientService(index, listener, authentication, routes, limits);
      service.start(lanes);
      return service;
    } catch (RuntimeException | Error e) {
      Sockets.close(listener);
      throw e;
    }
  }

  private void start(int count) {
    try {
      for (int i = 0; i < count; i++) {
        lanes.add(openLane("pando-client-service-" + i));
      }
      acceptor.start();
    } catch (RuntimeException | Error e) {
      Closing.all(this::endLanes, watchdog::close);
      throw e;
    }
  }

  private ServiceLane openLane(String name) {
    Fabric fabric = facts.index().metered().fabric();
    if (fabric.lane(name) instanceof LaneLoop loop) {
      return ServiceLane.start(facts, places::release, loop, SESSIONS_PER_LANE, limits);
    }
    throw new IllegalArgumentException("no lanes that can serve sockets: fabric=" + fabric.name());
  }

  /** Returns where it listens. */
  public InetSocketAddress address() {
    return address;
  }

  /** Returns the number of clients that are connected. */
  public int connections() {
    return limits.connections() - places.availablePermits();
  }

  private long statusWord(int place) {
    return switch (place) {
      case StatusWord.CONNECTIONS -> connections();
      case StatusWord.ANSWERED ->
          lanes.stream().mapToLong(lane -> lane.counters().answered()).sum();
      case StatusWord.FAILED -> lanes.stream().mapToLong(lane -> lane.counters().failed()).sum();
      default -> facts.index().statusWord(place);
    };
  }

  private void accept() {
    while (!closing) {
      try {
        greet(listener.accept());
      } catch (ClosedChannelException e) {
        return;
      } catch (IOException | OutOfMemoryError e) {
        // Too many open files, perhaps; clients that end make room.
        LockSupport.parkNanos(ACCEPT_PAUSE_NANOS);
      }
    }
  }

  private void greet(SocketChannel socket) throws IOException {
    if (guests.size() >= GUESTS_MAX) {
      reception.turnAway(socket);
      return;
    }
    Watchdog.Watched connection = watchdog.watch(socket);
    reception.arrive(connection);
    guests.add(socket);
    try {
      Thread.ofVirtual().name("pando-client-service-guest").start(() -> greet(connection));
    } catch (RuntimeException | Error e) {
      guests.remove(socket);
      connection.close();
      throw e;
    }
  }

  /** Learns who a client is, in a thread of its own, and gives it to a lane. */
  private void greet(Watchdog.Watched connection) {
    boolean handedOver = false;
    Hello.Request client = null;
    try {
      Sockets.configure(connection.socket());
      client = reception.perform(connection);
      if (client != null) {
        connection.release();
        connection.socket().configureBlocking(false);
        handedOver = handOver(connection);
      }
    } catch (IOException clientIsGone) {
      // Or it was cut off, or makes no sense.
    } finally {
      guests.remove(connection.socket());
      if (!handedOver) {
        connection.close();
        releasePlace(client);
      }
    }
  }

  private void releasePlace(Hello.@Nullable Request client) {
    if (client != null) {
      places.release();
    }
  }

  private synchronized boolean handOver(Watchdog.Watched connection) {
    if (!closing) {
      lanes.get(Math.floorMod(turn.getAndIncrement(), lanes.size())).arrive(connection);
    }
    return !closing;
  }

  /**
   * Ends the service: takes no further request, answers the operations that are under way, and
   * informs each client that nothing else of what it sent was done. Waits for these operations, and
   * a second for clients that do not end their connections. The index stays open. A second call
   * does nothing.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      closing = true;
    }
    Closing.all(() -> Sockets.close(listener), watchdog::close, this::endLanes);
    Closing.join(acceptor);
  }

  private void endLanes() {
    lanes.forEach(ServiceLane::sayGoodbye);
    Closing.all(lanes.stream().<Runnable>map(lane -> lane::close).toList());
  }

  private static ServerSocketChannel listen(InetSocketAddress address) {
    try {
      return Sockets.listen(address);
    } catch (IOException e) {
      throw new TcpException("cannot listen: address=" + address + ", " + e.getMessage(), e);
    }
  }
}
