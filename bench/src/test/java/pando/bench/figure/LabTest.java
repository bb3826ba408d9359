package pando.bench.figure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.bench.keys.KeySet;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.dex.DexOptions;
import pando.sim.ClusterModel;

@Timeout(60)
final class LabTest {
  @Test
  void shouldRunLoadsOnKeysOfTheirOwn() {
    Lab lab = new Lab(2, 2, true, 2, 0.7, index -> ClusterModel.defaults(), 100_000, 1);
    Load uniform = new Load(Workload.INSERT_INTENSIVE, Distribution.ZIPFIAN).forMillis(1);
    Load normal = uniform.withKeys(KeySet.NORMAL);
    Load scans = new Load(Workload.YCSB_E, Distribution.ZIPFIAN).withKeys(KeySet.NORMAL);
    Results results = lab.run(DexOptions.defaults(), List.of(uniform, normal, scans));
    for (Load load : List.of(uniform, normal, scans)) {
      assertThat(results.measurement(load).verified).isPositive();
    }
    // A simulation that begins with the same runs the same.
    Results again = lab.run(DexOptions.defaults(), List.of(uniform));
    assertThat(readBytes(again, uniform)).isEqualTo(readBytes(results, uniform));
    assertThat(readBytes(results, normal)).isNotEqualTo(readBytes(results, uniform));
  }

  private static long readBytes(Results results, Load load) {
    return results.measurement(load).verbs.bytesIn;
  }
}
