package pando.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToLongFunction;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;
import pando.fabric.VerbCounters;
import pando.index.Metered;
import pando.index.Meters;

/**
 * Meters of an index, a map or a door, and of its pool. They read counters that exist anyway, and
 * only when a registry asks: operations do no more work than without meters.
 *
 * <p>Counts are of this process: of all its sessions and background tasks since the index was made
 * or joined. The bytes of the pool are those of each memory server, used by any process. The
 * documentation, {@code docs/seeing.md}, lists all meters.
 *
 * <p>A registry never waits for long: a memory server that does not answer within a second has
 * {@code NaN} bytes, and so has everything that is gone once the index or the fabric is closed.
 * Numbers that need a look at a whole cache may be some seconds old.
 */
public final class PandoMetrics implements MeterBinder {
  private final Metered metered;
  private final MemoryServers memoryServers;
  private final Tags tags;

  /** Prepares the meters of an index, a map or a door; a door has those of its index, too. */
  public PandoMetrics(Metered metered) {
    this(metered, Tags.empty());
  }

  /**
   * Prepares the meters.
   *
   * @param tags of all meters; they distinguish several indexes of one registry
   */
  public PandoMetrics(Metered metered, Iterable<Tag> tags) {
    this(metered, new MemoryServers(metered.fabric()), Tags.of(tags));
  }

  PandoMetrics(Metered metered, MemoryServers memoryServers, Tags tags) {
    this.metered = metered;
    this.memoryServers = memoryServers;
    this.tags = tags;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    RegistryMeters to = new RegistryMeters(registry, metered, tags);
    Fabric fabric = metered.fabric();
    to.process(metered.name(), fabric.name());
    verbs(to, "read", "One-sided READs.", verbs -> verbs.reads);
    verbs(to, "write", "One-sided WRITEs.", verbs -> verbs.writes);
    verbs(to, "atomic", "One-sided CAS and FAA.", verbs -> verbs.atomics);
    verbs(to, "call", "CALLs to the processors of memory servers.", verbs -> verbs.calls);
    bytes(to, "in", "Payload bytes from memory servers.", verbs -> verbs.bytesIn);
    bytes(to, "out", "Payload bytes to memory servers.", verbs -> verbs.bytesOut);
    to.count("pando.trips", "Round trips that were waited for.", () -> metered.verbs().roundTrips);
    metered.meters(to);
    for (int server = 0; server < fabric.memoryServers(); server++) {
      pool(to, server, "capacity", PoolUsage::capacityBytes);
      pool(to, server, "reserved", PoolUsage::reservedBytes);
      pool(to, server, "used", PoolUsage::usedBytes);
    }
  }

  private void verbs(Meters to, String kind, String meaning, ToLongFunction<VerbCounters> of) {
    to.count("pando.verbs", meaning, () -> of.applyAsLong(metered.verbs()), "kind", kind);
  }

  private void bytes(Meters to, String dir, String meaning, ToLongFunction<VerbCounters> of) {
    to.count("pando.bytes", meaning, () -> of.applyAsLong(metered.verbs()), "dir", dir);
  }

  private void pool(Meters to, int server, String state, ToLongFunction<PoolUsage> of) {
    to.gauge(
        "pando.pool.bytes",
        "Bytes of a memory server that nodes can have, that compute servers have, and use.",
        () -> of.applyAsLong(memoryServers.usage(server)),
        "ms",
        String.valueOf(server),
        "state",
        state);
  }
}
