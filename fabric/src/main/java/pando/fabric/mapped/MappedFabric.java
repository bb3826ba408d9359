package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Capabilities;
import pando.fabric.ComputeServer;
import pando.fabric.Worker;
import pando.fabric.base.FabricBase;
import pando.fabric.base.Fences;
import pando.fabric.lane.LaneLoop;
import pando.fabric.layout.ServerLayout;
import pando.fabric.memory.Atomic16;

/** A fabric whose memory servers' memory is mapped into this process. */
public final class MappedFabric extends FabricBase {
  private final MemoryServerLink[] links;
  private final @Nullable Fences fences;
  private final @Nullable ComputeServer computeServer;
  private final boolean keepsPool;
  private final Runnable ending;
  private final Set<MappedWorker> workers = ConcurrentHashMap.newKeySet();

  /**
   * Creates a fabric over memory servers.
   *
   * @param name name of the kind of fabric
   * @param links the memory servers, in the order of their numbers
   * @param seed start of all randomness
   * @param fences of all fabrics over the memory servers, {@code null} if others cannot be fenced
   * @param computeServer that it can be fenced by; {@code null} for none, or without fences
   * @param keepsPool whether the memory servers stay when this process ends
   * @param ending releases the memory; run once, when the fabric is closed
   */
  public MappedFabric(
      String name,
      List<MemoryServerLink> links,
      long seed,
      @Nullable Fences fences,
      @Nullable ComputeServer computeServer,
      boolean keepsPool,
      Runnable ending) {
    super(name, seed, computeServer);
    this.links = links.toArray(new MemoryServerLink[0]);
    this.fences = fences;
    this.computeServer = computeServer;
    this.keepsPool = keepsPool;
    this.ending = ending;
  }

  @Override
  public Capabilities capabilities() {
    return new Capabilities(
        Long.BYTES,
        Atomic16.isAvailable(),
        ServerLayout.ON_CHIP_BYTES,
        false,
        fences != null,
        keepsPool,
        false);
  }

  @Override
  public long tripNanos() {
    return 0;
  }

  @Override
  public int memoryServers() {
    return links.length;
  }

  @Override
  public long dramBytes(int server) {
    checkServer(server);
    return links[server].dramBytes();
  }

  @Override
  protected Worker open(MemorySegment memory, RandomGenerator random, @Nullable LaneLoop lane) {
    Fences.Pass pass =
        fences == null || computeServer == null
            ? null
            : fences.pass(computeServer, Fences.NO_WAY, () -> {});
    MappedWorker worker =
        new MappedWorker(this, links, pass, memory, random, LaneLoop.backoff(lane));
    workers.add(worker);
    return worker;
  }

  @Override
  protected void raiseFence(int number, long leastEpoch) {
    if (fences == null) {
      throw new UnsupportedOperationException(
          "no memory server is between a process and memory that it has mapped: end the process, "
              + "fabric="
              + name());
    }
    fences.fence(number, leastEpoch);
  }

  @Override
  protected void end() {
    for (MemoryServerLink link : links) {
      link.close();
    }
    workers.forEach(MappedWorker::awaitNoNativeCall);
    workers.clear();
    ending.run();
  }

  /** Removes a closed worker from the open ones. */
  void forget(MappedWorker worker) {
    workers.remove(worker);
  }
}
