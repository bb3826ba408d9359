package pando.bench.figure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.baselines.deft.DeftOptions;
import pando.bench.keys.KeySet;
import pando.bench.records.SortedRecords;
import pando.bench.simulate.Windows;
import pando.bench.subject.IndexSubject;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.Systems;
import pando.index.dex.DexOptions;
import pando.sim.ClusterModel;

@Timeout(300)
final class LabTest {
  @Test
  void shouldRunLoadsOnKeysOfTheirOwn() {
    Lab lab = new Lab(2, 2, true, 2, 0.08, 0.7, index -> ClusterModel.defaults(), 100_000, 1);
    Load uniform = new Load(Workload.INSERT_INTENSIVE, Distribution.ZIPFIAN).forMillis(1);
    Load normal = uniform.withKeys(KeySet.NORMAL);
    Load scans = new Load(Workload.YCSB_E, Distribution.ZIPFIAN).withKeys(KeySet.NORMAL);
    Results results = lab.run(DexOptions.defaults(), List.of(uniform, normal, scans));
    for (Load load : List.of(uniform, normal, scans)) {
      assertThat(results.of(load).measurement().verified).isPositive();
    }
    // A simulation that begins with the same runs the same.
    Results again = lab.run(DexOptions.defaults(), List.of(uniform));
    assertThat(readBytes(again, uniform)).isEqualTo(readBytes(results, uniform));
    assertThat(readBytes(results, normal)).isNotEqualTo(readBytes(results, uniform));
  }

  @Tag("campaign")
  @Test
  void shouldSplitAComputeServerMeanwhile() {
    Lab lab = new Lab(2, 2, true, 4, 0.08, 0.7, index -> ClusterModel.defaults(), 50_000, 1);
    Load load = new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN).forMillis(3);
    Load split = load.splitAfterMillis(1);
    Results results = lab.run(DexOptions.defaults(), List.of(load, split));
    Windows windows = results.of(split).windows();
    assertThat(windows.megaOps(0)).isEqualTo(results.of(load).windows().megaOps(0));
    assertThat(windows.megaOps(1)).isPositive().isLessThan(results.of(load).windows().megaOps(1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> lab.run(DeftOptions.defaults(), List.of(split)))
        .withMessageContaining("index=deft");
  }

  /** Some compute servers count what was loaded as their own when they join, some do not. */
  @Tag("campaign")
  @ParameterizedTest
  @MethodSource("systems")
  void shouldCountTheLoadedPoolOnce(IndexSystem system) {
    Lab lab = new Lab(3, 2, true, 2, 0.08, 0.7, index -> ClusterModel.defaults(), 100_000, 1);
    Load reads = new Load(Workload.READ_ONLY, Distribution.UNIFORM).withWarmup(0).forMillis(1);
    double simulated =
        lab.run(system.defaults(), List.of(reads)).of(reads).footprint().poolBytesPerRecord();
    IndexOptions options = system.defaults().withComputeServers(3);
    try (IndexSubject loaded = IndexSubject.openLocal(options, 2, 64 << 20, 1)) {
      loaded.load(
          new SortedRecords(reads.start().keys().records(lab.records(), 1), lab.records(), _ -> {}),
          0.7);
      assertThat(simulated).isEqualTo((double) loaded.bytes() / lab.records());
    }
  }

  static List<IndexSystem> systems() {
    return Systems.all();
  }

  private static long readBytes(Results results, Load load) {
    return results.of(load).measurement().verbs.bytesIn;
  }
}
