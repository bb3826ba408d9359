package pando.client;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.SplittableRandom;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.tcp.Authentication;
import pando.index.Partitioning;
import pando.index.dex.DexIndex;
import pando.index.dex.DexOptions;

/**
 * Two indexes over one pool, as two processes have them, each behind a service of its own: compute
 * servers 0 and 1, and 2 and 3, of DEX. Boundaries between them move.
 */
public final class DexPair implements AutoCloseable {
  /** Compute servers of the index. */
  public static final int SERVERS = 4;

  private static final InetSocketAddress FREE_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final DexIndex lower;
  private final DexIndex upper;
  final ClientService lowerService;
  final ClientService upperService;

  /** Makes an index, and starts its services. */
  public DexPair(Fabric fabric, DexOptions options) {
    lower = options.withComputeServers(SERVERS).create(fabric, 0, 2);
    upper = options.withComputeServers(SERVERS).join(fabric, 2, 2);
    lowerService = start(lower);
    upperService = start(upper);
  }

  private ClientService start(DexIndex index) {
    return ClientService.start(
        index, FREE_PORT, Authentication.none(), () -> routes(index.partitioning()), 1);
  }

  /** Returns what a process knows, which may be old. */
  private Routes routes(Partitioning partitioning) {
    return Routes.of(
        partitioning,
        owner -> Optional.ofNullable(owner < 2 ? lowerService : upperService).map(DexPair::text));
  }

  static String text(ClientService service) {
    return service.address().getHostString() + ":" + service.address().getPort();
  }

  /** Returns the addresses of both services, as a client takes them. */
  public String addresses() {
    return text(lowerService) + "," + text(upperService);
  }

  /** Moves the boundary between both. */
  void move(SplittableRandom random) {
    move(lower.partitioning().lowOfServer(1) / 2 + random.nextLong(Long.MAX_VALUE / 2));
  }

  /** Moves the boundary between both, to the least key of the upper one. */
  public synchronized void move(long low) {
    try {
      if (low < lower.partitioning().lowOfServer(2)) {
        lower.partitions().orElseThrow().moveBoundary(2, low);
      } else {
        upper.partitions().orElseThrow().moveBoundary(2, low);
      }
    } catch (IllegalArgumentException outside) {
      // The other process has moved it meanwhile.
    }
  }

  @Override
  public void close() {
    try (lower;
        upper;
        lowerService;
        upperService) {
      // In this order, the last first.
    }
  }
}
