package pando.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.baselines.rolex.RolexIndex;
import pando.fabric.PoolUsage;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.IndexSystem;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;
import pando.index.TaskCounts;
import pando.index.orca.CacheShares;
import pando.index.orca.OrcaIndex;

class PandoMetricsTest {
  private static final int KEYS = 2_000;

  static List<IndexSystem> systems() {
    return Systems.all();
  }

  @ParameterizedTest
  @MethodSource("systems")
  void shouldHaveTheNumbersOfTheIndex(IndexSystem system) {
    try (SmallIndex small = SmallIndex.open(system)) {
      small.operate(KEYS);
      Map<String, Double> expected = numbers(small);
      assertThat(expected.get("pando.trips")).isPositive();
      if (system.name().equals("emt-d")) {
        // It has no cache.
        assertThat(expected.get("pando.cache.bytes")).isZero();
      } else {
        assertThat(expected.get("pando.cache.hits{level=leaf}")).isPositive();
        assertThat(expected.get("pando.cache.bytes")).isPositive();
      }
      assertThat(expected.get("pando.index.bytes")).isPositive();
      assertMetersAreNumbers(small);
    }
  }

  /** A task takes its steps whenever its thread runs, so more keys come until it has taken one. */
  @Test
  void shouldCountBackgroundTasks() {
    for (String system : List.of("orca", "rolex")) {
      String task = system.equals("orca") ? "merge" : "retrain";
      String done = "pando.tasks{outcome=done,task=" + task + "}";
      try (SmallIndex small = SmallIndex.open(Systems.named(system))) {
        for (int times = 20; meter(small, done) == 0 && times <= 400; times += 20) {
          small.operate(times * KEYS);
        }
        assertThat(meter(small, done)).isPositive();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("systems")
  void shouldKeepTheCountsOfTheClosed(IndexSystem system) {
    MeterRegistry registry = new SimpleMeterRegistry();
    RangeIndex index;
    try (SmallIndex small = SmallIndex.open(system)) {
      index = small.index();
      new PandoMetrics(index).bindTo(registry);
      small.operate(KEYS);
    }
    Map<String, Double> meters = read(registry);
    assertThat(meters.get("pando.verbs{kind=read}"))
        .isEqualTo((double) index.verbs().reads)
        .isPositive();
    assertThat(meters.get("pando.pool.bytes{ms=1,state=used}")).isNaN();
    assertThat(meters.values()).allMatch(number -> number.isNaN() || number >= 0);
  }

  @Test
  void shouldTellTwoIndexesApart() {
    MeterRegistry registry = new SimpleMeterRegistry();
    try (SmallIndex one = SmallIndex.open(Systems.named("deft"));
        SmallIndex other = SmallIndex.open(Systems.named("dex"))) {
      new PandoMetrics(one.index(), List.of(Tag.of("map", "one"))).bindTo(registry);
      new PandoMetrics(other.index(), List.of(Tag.of("map", "other"))).bindTo(registry);
      one.operate(KEYS);
      Map<String, Double> meters = read(registry);
      assertThat(meters.get("pando.trips{map=one}"))
          .isEqualTo((double) one.index().verbs().roundTrips);
      assertThat(meters.get("pando.trips{map=other}"))
          .isEqualTo((double) other.index().verbs().roundTrips);
    }
  }

  @Test
  void shouldCountKeysWithoutAVerb() {
    try (SmallIndex small = SmallIndex.open(Systems.named("orca"))) {
      small.operate(KEYS);
      assertThat(meter(small, "pando.keys")).isEqualTo(KEYS);
      long verbs = small.index().verbs().reads;
      assertThat(meter(small, "pando.keys")).isEqualTo(KEYS);
      assertThat(small.index().verbs().reads).isEqualTo(verbs);
    }
  }

  @Test
  void shouldCountTheCostlyRarely() {
    int[] counted = new int[1];
    CostlyNumber number =
        new CostlyNumber(() -> {
          // So long that a thousand reads cannot take 200 times as long.
          long start = System.nanoTime();
          while (System.nanoTime() - start < 50_000_000) {
            Thread.onSpinWait();
          }
          return ++counted[0];
        });
    for (int i = 0; i < 1_000; i++) {
      assertThat(number.getAsDouble()).isEqualTo(1);
    }
  }

  /** Compares all meters with the numbers of the index, while no background task changes any. */
  private static void assertMetersAreNumbers(SmallIndex small) {
    while (true) {
      Map<String, Double> before = numbers(small);
      Map<String, Double> meters = meters(small);
      if (before.equals(numbers(small))) {
        assertThat(meters).isEqualTo(before);
        return;
      }
    }
  }

  private static double meter(SmallIndex small, String name) {
    return Objects.requireNonNull(meters(small).get(name));
  }

  private static Map<String, Double> meters(SmallIndex small) {
    MeterRegistry registry = new SimpleMeterRegistry();
    new PandoMetrics(small.index()).bindTo(registry);
    Map<String, Double> meters = read(registry);
    // An age is another one at each look.
    assertThat(meters.remove("pando.unwritten.seconds")).isNotNegative();
    assertThat(meters.remove("pando.uptime.seconds")).isPositive();
    return meters;
  }

  private static Map<String, Double> read(MeterRegistry registry) {
    Map<String, Double> meters = new LinkedHashMap<>();
    for (Meter meter : registry.getMeters()) {
      meters.put(LiveFeed.name(meter.getId()), meter.measure().iterator().next().getValue());
    }
    return meters;
  }

  /** Returns what the index and the fabric themselves tell, by the names of the meters. */
  private static Map<String, Double> numbers(SmallIndex small) {
    RangeIndex index = small.index();
    Map<String, Double> numbers = new LinkedHashMap<>();
    numbers.put(
        "pando.info{fabric=local,system="
            + index.name()
            + ",version="
            + RegistryMeters.VERSION
            + "}",
        1.0);
    VerbCounters verbs = index.verbs();
    numbers.put("pando.verbs{kind=read}", (double) verbs.reads);
    numbers.put("pando.verbs{kind=write}", (double) verbs.writes);
    numbers.put("pando.verbs{kind=atomic}", (double) verbs.atomics);
    numbers.put("pando.verbs{kind=call}", (double) verbs.calls);
    numbers.put("pando.bytes{dir=in}", (double) verbs.bytesIn);
    numbers.put("pando.bytes{dir=out}", (double) verbs.bytesOut);
    numbers.put("pando.trips", (double) verbs.roundTrips);
    CacheCounters cache = index.cache();
    numbers.put("pando.cache.hits{level=leaf}", (double) cache.leafHits());
    numbers.put("pando.cache.misses{level=leaf}", (double) cache.leafMisses());
    numbers.put("pando.cache.misses{level=inner}", (double) cache.innerMisses());
    numbers.put("pando.cache.admissions", (double) cache.admissions());
    numbers.put("pando.cache.evictions", (double) cache.evictions());
    numbers.put("pando.restarts", (double) cache.restarts());
    numbers.put("pando.index.bytes", (double) index.poolBytes());
    numbers.put("pando.cache.bytes", (double) index.cachedBytes());
    numbers.put("pando.unwritten.bytes", (double) index.unwritten().bytes());
    numbers.put("pando.partitions", (double) index.partitioning().servers());
    numbers.put("pando.partitions.epoch", (double) index.partitioning().epoch());
    List<PoolUsage> usage = small.fabric().usage();
    for (int server = 0; server < usage.size(); server++) {
      String name = "pando.pool.bytes{ms=" + server + ",state=";
      numbers.put(name + "capacity}", (double) usage.get(server).capacityBytes());
      numbers.put(name + "reserved}", (double) usage.get(server).reservedBytes());
      numbers.put(name + "used}", (double) usage.get(server).usedBytes());
    }
    switch (index.name()) {
      case "dex" -> {
        numbers.put("pando.cache.coolings", (double) cache.coolings());
        numbers.put("pando.cache.second.chances", (double) cache.secondChances());
        numbers.put("pando.cache.writebacks", (double) cache.writeBacks());
        numbers.put("pando.offloads{outcome=done}", (double) cache.offloads());
        numbers.put("pando.offloads{outcome=returned}", (double) cache.offloadFallbacks());
      }
      case "orca" -> {
        OrcaIndex orca = (OrcaIndex) index;
        CacheShares shares = orca.shares();
        numbers.put("pando.cache.share.bytes{of=records}", (double) shares.recordBytes());
        numbers.put("pando.cache.share.bytes{of=deltas}", (double) shares.deltaBytes());
        numbers.put("pando.cache.share.bytes{of=images}", (double) shares.imageBytes());
        numbers.put("pando.cache.share.bytes{of=directory}", (double) shares.directoryBytes());
        putTask(numbers, "merge", orca.merges());
        putTask(numbers, "move", shares.moves());
        try (Session session = orca.session()) {
          numbers.put("pando.keys", (double) session.servedSizeEstimate());
        }
      }
      case "rolex", "xstore-d" -> putTask(numbers, "retrain", ((RolexIndex) index).retrainings());
      default -> {}
    }
    return numbers;
  }

  private static void putTask(Map<String, Double> numbers, String task, TaskCounts counts) {
    numbers.put("pando.tasks{outcome=done,task=" + task + "}", (double) counts.done());
    numbers.put("pando.tasks{outcome=failed,task=" + task + "}", (double) counts.failed());
  }
}
