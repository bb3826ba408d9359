package pando.cluster;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import pando.fabric.Fabric;
import pando.fabric.FenceFailedException;

/**
 * The fences that this process has made sure of by its own fabric, which then knows whose locks in
 * the pool are nobody's. Every compute server does so for every fence, so that none waits for a
 * lock of the dead. Thread-safe.
 */
final class FencedHere {
  private static final System.Logger LOG = System.getLogger(FencedHere.class.getName());

  private final Host host;
  private final Fabric fabric;
  private final ClusterState state;

  /** When each fence had come about, by the monotonic clock, by the change's id. */
  private final Map<Integer, Long> cameAbout = new ConcurrentHashMap<>();

  FencedHere(Host host, Fabric fabric, ClusterState state) {
    this.host = host;
    this.fabric = fabric;
    this.state = state;
  }

  /**
   * Makes sure of a fence that is under way.
   *
   * @return whether it has come about at all memory servers that are not lost
   */
  boolean ensure(Change fence) {
    if (cameAbout.containsKey(fence.id())) {
      return true;
    }
    try {
      long least = PlantedClusterBug.FENCE_SKIPPED ? 1 : fence.leastEpoch();
      fabric.fence(fence.server(), least, this::isLost);
    } catch (FenceFailedException e) {
      LOG.log(Level.WARNING, "will be tried again: " + fence, e);
      return false;
    }
    cameAbout.put(fence.id(), host.nanoTime());
    return true;
  }

  /** Returns whether a memory server is gone with its memory. */
  private boolean isLost(int memoryServer) {
    return isLost(state, memoryServer);
  }

  /** Returns whether a memory server is gone with its memory, by what the coordinator has. */
  static boolean isLost(ClusterState state, int memoryServer) {
    return state.pool().stream()
        .anyMatch(entry -> entry.number() == memoryServer && entry.state() == ServerState.LOST);
  }

  /** Makes sure of all fences that are under way. */
  void follow(List<Change> changes) {
    changes.stream().filter(Change::isFenceUnderWay).forEach(this::ensure);
  }

  /** Returns how long ago a fence had come about here, in ns. */
  long nanosSince(Change fence) {
    long now = host.nanoTime();
    return now - cameAbout.getOrDefault(fence.id(), now);
  }
}
