package pando.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.PoolUsage;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.RangeIndex;
import pando.index.TaskCounts;
import pando.index.dex.DexIndex;
import pando.index.orca.CacheShares;
import pando.index.orca.OrcaIndex;
import pando.index.rolex.RolexIndex;

/**
 * Meters of an index and of the pool that it is in. They read counters that the index has anyway,
 * and only when a registry asks: an operation does nothing more than without them.
 *
 * <p>Counts are of this process: of all its sessions and background tasks since the index was made
 * or joined. The bytes of the pool are those of each memory server, used by any process. The
 * documentation, {@code docs/seeing.md}, lists all meters.
 *
 * <p>A registry that asks is never kept waiting for long: a memory server that does not answer
 * within a second has {@code NaN} bytes, and so has anything that is gone once the index or the
 * fabric is closed. What takes a look at a whole cache may be some seconds old.
 */
public final class PandoMetrics implements MeterBinder {
  private final RangeIndex index;
  private final Fabric fabric;
  private final MemoryServers memoryServers;
  private final Tags tags;

  /**
   * Prepares the meters.
   *
   * @param fabric the one that the index was opened with
   */
  public PandoMetrics(RangeIndex index, Fabric fabric) {
    this(index, fabric, Tags.empty());
  }

  /**
   * Prepares the meters.
   *
   * @param fabric the one that the index was opened with
   * @param tags of all meters; they tell several indexes of one registry apart
   */
  public PandoMetrics(RangeIndex index, Fabric fabric, Iterable<Tag> tags) {
    this(index, fabric, new MemoryServers(fabric), Tags.of(tags));
  }

  PandoMetrics(RangeIndex index, Fabric fabric, MemoryServers memoryServers, Tags tags) {
    this.index = index;
    this.fabric = fabric;
    this.memoryServers = memoryServers;
    this.tags = tags;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    new Binding(registry).bind();
  }

  /** Binds to one registry. */
  private final class Binding {
    private final MeterRegistry registry;

    Binding(MeterRegistry registry) {
      this.registry = registry;
    }

    void bind() {
      Tags names = Tags.of("system", index.name(), "fabric", fabric.name());
      gauge("pando.info", names, "The system and the fabric; always 1.", () -> 1);
      bindVerbs();
      bindCache();
      bindSpace();
      bindPartitions();
      switch (index) {
        case DexIndex _ -> bindDex();
        case OrcaIndex orca -> bindOrca(orca);
        case RolexIndex rolex -> bindTask("retrain", rolex::retrainings);
        default -> {}
      }
    }

    private void bindVerbs() {
      verbs("read", "One-sided READs.", verbs -> verbs.reads);
      verbs("write", "One-sided WRITEs.", verbs -> verbs.writes);
      verbs("atomic", "One-sided CAS and FAA.", verbs -> verbs.atomics);
      verbs("call", "CALLs to the processors of memory servers.", verbs -> verbs.calls);
      bytes("in", "Payload bytes from memory servers.", verbs -> verbs.bytesIn);
      bytes("out", "Payload bytes to memory servers.", verbs -> verbs.bytesOut);
      count(
          "pando.trips",
          Tags.empty(),
          "Round trips that were waited for.",
          () -> index.verbs().roundTrips);
    }

    private void verbs(String kind, String meaning, ToLongFunction<VerbCounters> of) {
      count("pando.verbs", Tags.of("kind", kind), meaning, () -> of.applyAsLong(index.verbs()));
    }

    private void bytes(String dir, String meaning, ToLongFunction<VerbCounters> of) {
      count("pando.bytes", Tags.of("dir", dir), meaning, () -> of.applyAsLong(index.verbs()));
    }

    private void bindCache() {
      Tags leaf = Tags.of("level", "leaf");
      Tags inner = Tags.of("level", "inner");
      cache("cache.hits", leaf, "Looks for a leaf that the cache served.", CacheCounters::leafHits);
      cache("cache.misses", leaf, "Looks for a leaf that it did not.", CacheCounters::leafMisses);
      cache("cache.misses", inner, "Inner nodes fetched.", CacheCounters::innerMisses);
      cache("cache.admissions", Tags.empty(), "Taken into a cache.", CacheCounters::admissions);
      cache("cache.evictions", Tags.empty(), "Dropped to make room.", CacheCounters::evictions);
      cache("restarts", Tags.empty(), "Descents begun again.", CacheCounters::restarts);
    }

    private void bindDex() {
      cache("cache.coolings", Tags.empty(), "Picked for eviction.", CacheCounters::coolings);
      cache(
          "cache.second.chances",
          Tags.empty(),
          "Nodes picked for eviction that were used again before.",
          CacheCounters::secondChances);
      cache("cache.writebacks", Tags.empty(), "Dirty nodes written.", CacheCounters::writeBacks);
      cache(
          "offloads",
          Tags.of("outcome", "done"),
          "Operations that a memory server's processor finished.",
          CacheCounters::offloads);
      cache(
          "offloads",
          Tags.of("outcome", "returned"),
          "Operations that it returned without an effect.",
          CacheCounters::offloadFallbacks);
    }

    private void cache(String name, Tags own, String meaning, ToLongFunction<CacheCounters> of) {
      count("pando." + name, own, meaning, () -> of.applyAsLong(index.cache()));
    }

    private void bindOrca(OrcaIndex orca) {
      share(orca, "records", CacheShares::recordBytes);
      share(orca, "deltas", CacheShares::deltaBytes);
      share(orca, "images", CacheShares::imageBytes);
      share(orca, "directory", CacheShares::directoryBytes);
      bindTask("merge", orca::merges);
      bindTask("move", () -> orca.shares().moves());
    }

    private void share(OrcaIndex orca, String of, ToLongFunction<CacheShares> bytes) {
      gauge(
          "pando.cache.share.bytes",
          Tags.of("of", of),
          "Memory of compute servers that a cache, or the directory, has.",
          () -> bytes.applyAsLong(orca.shares()));
    }

    private void bindTask(String task, Supplier<TaskCounts> counts) {
      String meaning = "What background tasks have done, and what failed.";
      count(
          "pando.tasks",
          Tags.of("task", task, "outcome", "done"),
          meaning,
          () -> counts.get().done());
      count(
          "pando.tasks",
          Tags.of("task", task, "outcome", "failed"),
          meaning,
          () -> counts.get().failed());
    }

    private void bindSpace() {
      gauge(
          "pando.index.bytes",
          Tags.empty(),
          "Bytes of the pool that nodes from compute servers of this process occupy.",
          index::poolBytes);
      gauge(
          "pando.cache.bytes",
          Tags.empty(),
          "What the caches of this process hold.",
          new CostlyNumber(index::cachedBytes));
      for (int server = 0; server < fabric.memoryServers(); server++) {
        pool(server, "capacity", PoolUsage::capacityBytes);
        pool(server, "reserved", PoolUsage::reservedBytes);
        pool(server, "used", PoolUsage::usedBytes);
      }
    }

    private void pool(int server, String state, ToLongFunction<PoolUsage> of) {
      gauge(
          "pando.pool.bytes",
          Tags.of("ms", String.valueOf(server), "state", state),
          "Bytes of a memory server that nodes can have, that compute servers have, and use.",
          () -> of.applyAsLong(memoryServers.usage(server)));
    }

    private void bindPartitions() {
      gauge(
          "pando.partitions",
          Tags.empty(),
          "Ranges of keys, each with a compute server.",
          () -> index.partitioning().servers());
      gauge(
          "pando.partitions.epoch",
          Tags.empty(),
          "Changes of the ranges since the index was made.",
          () -> index.partitioning().epoch());
    }

    /** The registry refers to the index weakly, the function refers to it, and to the reading. */
    private void count(String name, Tags own, String meaning, Reading reading) {
      FunctionCounter.builder(name, index, _ -> reading.orGone())
          .tags(tags.and(own))
          .description(meaning)
          .register(registry);
    }

    private void gauge(String name, Tags own, String meaning, Reading reading) {
      Gauge.builder(name, reading::orGone)
          .tags(tags.and(own))
          .description(meaning)
          .register(registry);
    }
  }

  /** Reads a number. */
  @FunctionalInterface
  interface Reading {
    /**
     * Returns it.
     *
     * @throws IllegalStateException if the index or the fabric is closed
     * @throws PandoException if a memory server does not answer
     */
    double read();

    /** Returns it, or {@code NaN} if what it counts is gone or does not answer. */
    default double orGone() {
      try {
        return read();
      } catch (IllegalStateException | PandoException e) {
        return Double.NaN;
      }
    }
  }
}
