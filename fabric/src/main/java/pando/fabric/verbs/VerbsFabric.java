package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.fabric.base.FabricBase;
import pando.fabric.lane.Completions;
import pando.fabric.lane.LaneLoop;
import pando.fabric.layout.ServerLayout;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpOptions;

/**
 * Connects a compute server to {@linkplain VerbsMemoryServer memory servers} by RDMA. TCP beside it
 * carries the proof of who both sides are, the set-up of queue pairs, and fences.
 *
 * <p>A worker has a queue pair to each memory server that it uses, or shares it with the others of
 * its lane. One that breaks is made anew. Then READs are sent again, and verbs that stood behind
 * another worker's one that was refused. All else that was not answered ends in {@link
 * pando.fabric.UnknownOutcomeException}.
 */
@SuppressWarnings("exports") // The base has nothing of its own that is public.
public final class VerbsFabric extends FabricBase {
  static final String NAME = "verbs";

  /** Each takes a queue pair of the memory servers that it was used for. */
  private static final int SPARES_MAX = 4;

  private final Fabric control;
  private final Device device;
  private final LostServers lost;
  private final int lineAtomicity;
  private final long[] dramBytes;
  private final long verbNanos;
  private final Set<VerbsWorker> workers = ConcurrentHashMap.newKeySet();
  private final Set<VerbsLane> lanes = ConcurrentHashMap.newKeySet();

  /** Ways that closed workers have left to the next ones. */
  private final BlockingDeque<OwnLinks> spares = new LinkedBlockingDeque<>(SPARES_MAX);

  private volatile boolean isClosed;

  private VerbsFabric(
      Fabric control, Device device, long seed, TcpOptions options, CardOptions cardOptions) {
    super(NAME, seed, options.computeServer().orElse(null));
    this.control = control;
    this.device = device;
    this.verbNanos = options.verbTimeout().toNanos();
    this.lineAtomicity = cardOptions.lineAtomicity();
    this.lost = new LostServers(control.memoryServers());
    this.dramBytes =
        IntStream.range(0, control.memoryServers()).mapToLong(control::dramBytes).toArray();
    connect();
  }

  /** Finds out that every memory server has a card that is reached. */
  private void connect() {
    try (OwnLinks links = new OwnLinks(this, device, control, lost)) {
      for (int server = 0; server < dramBytes.length; server++) {
        links.to(server).open();
      }
    }
  }

  /**
   * Connects to running memory servers, with the defaults of {@link CardOptions}.
   *
   * @param addresses where the memory servers listen by TCP, in the order of their numbers
   * @param seed start of all randomness in the fabric
   * @param options of the connections by TCP; the time-out is that of verbs as well
   * @param card name of the card, see {@link Cards#names}
   * @throws VerbsException if the card cannot be used, or a memory server has none
   * @throws pando.fabric.tcp.TcpException as {@link TcpFabric#attach}
   * @throws pando.fabric.FencedException if the epoch of the options' compute server is refused
   */
  public static Fabric attach(
      List<InetSocketAddress> addresses, long seed, TcpOptions options, String card) {
    return attach(addresses, seed, options, card, CardOptions.defaults());
  }

  /**
   * Connects to running memory servers.
   *
   * @param cardOptions how the card is used
   */
  public static Fabric attach(
      List<InetSocketAddress> addresses,
      long seed,
      TcpOptions options,
      String card,
      CardOptions cardOptions) {
    Fabric control = TcpFabric.attach(addresses, seed, options);
    try {
      Device device = Device.open(card);
      try {
        return new VerbsFabric(control, device, seed, options, cardOptions);
      } catch (RuntimeException | Error e) {
        device.close();
        throw e;
      }
    } catch (RuntimeException | Error e) {
      control.close();
      throw e;
    }
  }

  @Override
  public Capabilities capabilities() {
    return new Capabilities(
        lineAtomicity,
        false,
        ServerLayout.ON_CHIP_BYTES,
        false,
        control.capabilities().fences(),
        true,
        false);
  }

  @Override
  public int memoryServers() {
    return dramBytes.length;
  }

  @Override
  public long dramBytes(int server) {
    checkServer(server);
    return dramBytes[server];
  }

  @Override
  protected Worker open(MemorySegment memory, RandomGenerator random, @Nullable LaneLoop lane) {
    VerbsWorker worker = new VerbsWorker(this, device, lane, dramBytes, verbNanos, memory, random);
    workers.add(worker);
    return worker;
  }

  @Override
  protected Completions completions() {
    VerbsLane lane = new VerbsLane(this, device, control, lost);
    lanes.add(lane);
    return lane;
  }

  /** Returns ways that a closed worker has left, or new ones. */
  OwnLinks takeLinks() {
    OwnLinks kept = spares.pollLast();
    return kept == null ? new OwnLinks(this, device, control, lost) : kept;
  }

  /** Keeps ways for the next worker, or closes them where enough are kept; nothing uses them. */
  void keepLinks(OwnLinks links) {
    if (isClosed || !spares.offerLast(links)) {
      links.close();
    }
  }

  @Override
  protected void raiseFence(int computeServer, long leastEpoch) {
    control.fence(computeServer, leastEpoch);
  }

  /** Returns whether it is closed: what is under way ends. */
  boolean isClosed() {
    return isClosed;
  }

  /** Returns the name of the card. */
  String card() {
    return device.name();
  }

  /** Removes a lane that is closed. */
  void forget(VerbsLane lane) {
    lanes.remove(lane);
  }

  /** Removes a worker that is closed. */
  void forget(VerbsWorker worker) {
    workers.remove(worker);
  }

  @Override
  protected void end() {
    isClosed = true;
    // Wakes those that wait in CALLs.
    control.close();
    lanes.forEach(VerbsLane::release);
    workers.forEach(VerbsWorker::release);
    closeSpares();
    device.close();
  }

  private void closeSpares() {
    for (OwnLinks kept = spares.pollLast(); kept != null; kept = spares.pollLast()) {
      kept.close();
    }
  }
}
