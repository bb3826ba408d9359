package pando.fabric.tcp;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;
import pando.fabric.FenceFailedException;
import pando.fabric.PandoException;
import pando.fabric.Worker;
import pando.fabric.base.FabricBase;
import pando.fabric.lane.Completions;
import pando.fabric.lane.LaneLoop;
import pando.fabric.layout.ServerLayout;
import pando.fabric.server.PoolOptions;
import pando.fabric.wire.Credentials;
import pando.fabric.wire.Introduction;
import pando.fabric.wire.Protocol;
import pando.fabric.wire.Role;
import pando.fabric.wire.Watchdog;

/**
 * Connects a compute server to memory servers by TCP.
 *
 * <p>Each worker has a connection to each memory server that it uses; those of a lane share one. If
 * one is cut, READs are sent again, on a new connection. All else that was sent and not answered
 * ends in {@link pando.fabric.UnknownOutcomeException} and is never sent twice; it takes effect
 * before the worker's next verb to the same memory server does, or never. That holds for a thread
 * that is interrupted in the middle of a verb, too, which stays interrupted. What could not be sent
 * is sent later, or ends in {@link pando.fabric.StalledException}. A memory server that accepts no
 * connection for a while, or that was started anew, is lost: from then on every verb to it throws
 * {@link pando.fabric.MemoryServerLostException}.
 *
 * <p>Without {@link Authentication} only on the loopback interface, where any user of the machine
 * can connect to a memory server then.
 */
@SuppressWarnings("exports") // The base has nothing of its own that is public.
public final class TcpFabric extends FabricBase {
  static final String NAME = "tcp";

  private final RemoteServer[] servers;
  private final long[] dramBytes;
  private final TcpOptions options;
  private final @Nullable Introduction admin;
  private final Watchdog watchdog;

  private TcpFabric(
      RemoteServer[] servers,
      long seed,
      TcpOptions options,
      @Nullable Introduction admin,
      Watchdog watchdog) {
    super(NAME, seed, options.computeServer().orElse(null));
    this.servers = servers;
    this.dramBytes = Arrays.stream(servers).mapToLong(RemoteServer::dramBytes).toArray();
    this.options = options;
    this.admin = admin;
    this.watchdog = watchdog;
  }

  /**
   * Connects to running memory servers.
   *
   * @param addresses the memory servers, in the order of their numbers
   * @param seed start of all randomness in the fabric
   * @param options how long it waits, and how both sides prove who they are
   * @throws IllegalArgumentException if the authentication's files are of no use, or it does not
   *     suffice for an address
   * @throws TcpException if a memory server does not answer, does not accept this side or is not
   *     accepted by it, has another number or another version
   * @throws pando.fabric.FencedException if the epoch of the options' compute server is refused
   */
  public static Fabric attach(List<InetSocketAddress> addresses, long seed, TcpOptions options) {
    if (addresses.isEmpty() || addresses.size() > PoolOptions.MEMORY_SERVERS_MAX) {
      throw new IllegalArgumentException(
          "invalid number of memory servers: count="
              + addresses.size()
              + ", maximum="
              + PoolOptions.MEMORY_SERVERS_MAX);
    }
    addresses.forEach(address -> options.authentication().checkAddress(address));
    Credentials credentials = options.authentication().credentials(Role.COMPUTE);
    Introduction self =
        new Introduction(
            Protocol.VERBS, credentials, Role.COMPUTE, options.computeServer().orElse(null));
    Introduction admin = admin(options);
    Watchdog watchdog = Watchdog.start("pando-tcp-watchdog");
    try {
      RemoteServer[] servers = new RemoteServer[addresses.size()];
      for (int i = 0; i < servers.length; i++) {
        servers[i] = RemoteServer.find(addresses.get(i), i, self, watchdog);
      }
      return new TcpFabric(servers, seed, options, admin, watchdog);
    } catch (RuntimeException | Error e) {
      watchdog.close();
      throw e;
    }
  }

  /** Returns as what this process fences others, {@code null} if it cannot. */
  private static @Nullable Introduction admin(TcpOptions options) {
    if (options.fencing().isEmpty() && options.authentication() instanceof Authentication.Tls) {
      return null;
    }
    Authentication fencing = options.fencing().orElse(options.authentication());
    return new Introduction(Protocol.VERBS, fencing.credentials(Role.ADMIN), Role.ADMIN, null);
  }

  @Override
  public Capabilities capabilities() {
    boolean cas16 = Arrays.stream(servers).allMatch(RemoteServer::hasCas16);
    return new Capabilities(
        Long.BYTES, cas16, ServerLayout.ON_CHIP_BYTES, true, admin != null, true, false);
  }

  @Override
  public int memoryServers() {
    return servers.length;
  }

  @Override
  public long dramBytes(int server) {
    checkServer(server);
    return dramBytes[server];
  }

  @Override
  protected Worker open(MemorySegment memory, RandomGenerator random, @Nullable LaneLoop lane) {
    return new TcpWorker(watchdog, servers, dramBytes, options, memory, random, lane);
  }

  @Override
  protected void raiseFence(int computeServer, long leastEpoch) {
    if (admin == null) {
      throw new UnsupportedOperationException(
          "to fence others by TLS takes a certificate of role admin: TcpOptions.withFencing");
    }
    FenceRequest request = new FenceRequest(computeServer, leastEpoch, watchdog);
    BitSet fenced = new BitSet();
    List<Exception> failures = new ArrayList<>();
    for (RemoteServer server : servers) {
      try {
        request.send(server.seenBy(admin));
        fenced.set(server.number());
      } catch (IOException | PandoException e) {
        failures.add(e);
      }
    }
    if (!failures.isEmpty()) {
      throw failed(computeServer, leastEpoch, fenced, failures);
    }
  }

  private FenceFailedException failed(
      int computeServer, long leastEpoch, BitSet fenced, List<Exception> failures) {
    FenceFailedException failed =
        new FenceFailedException(
            "not fenced at all memory servers: computeServer="
                + computeServer
                + ", leastEpoch="
                + leastEpoch
                + ", memoryServers="
                + servers.length
                + ", first="
                + failures.getFirst(),
            fenced);
    failures.forEach(failed::addSuppressed);
    return failed;
  }

  @Override
  protected Completions completions() {
    return new TcpLane(watchdog, servers);
  }

  @Override
  protected void end() {
    watchdog.close();
  }
}
