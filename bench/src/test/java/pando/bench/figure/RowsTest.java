package pando.bench.figure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.dex.DexOptions;
import pando.sim.ClusterModel;

@Timeout(60)
final class RowsTest {
  private static final IndexOptions DEX = DexOptions.defaults();
  private static final IndexOptions SHERMAN = ShermanOptions.sherman();
  private static final IndexOptions FG = ShermanOptions.fg();
  private static final Load READS = Load.zipfian(Workload.READ_ONLY).withWarmup(100).forMillis(1);
  private static final Load WRITES = Load.zipfian(Workload.WRITE_ONLY).withWarmup(100).forMillis(1);

  private final Lab lab = new Lab(2, 2, true, 2, 0.2, 0.7, _ -> ClusterModel.defaults(), 20_000, 1);
  private final Rows rows = new Rows(lab);
  private final List<String> steps = new ArrayList<>();

  private List<Double> numbers() {
    List<FigureLine> lines =
        ScopedValue.where(Figure.PROGRESS, steps::add).call(() -> rows.lines());
    return lines.stream().map(FigureLine::ours).toList();
  }

  @Test
  void shouldDivideByTheGreatestOfTheOthers() {
    rows.add("DEX", Measure.RATIO, DEX, READS);
    rows.add("Sherman", Measure.RATIO, SHERMAN, READS);
    rows.add("FG+", Measure.RATIO, FG, READS);
    rows.addOver("DEX over Sherman", 2, DEX, READS, SHERMAN);
    rows.addOver("DEX over the best", 3, DEX, READS, SHERMAN, FG);
    rows.addOverOther("reads over writes", 4, DEX, READS, DEX, WRITES);
    rows.add("DEX, writes", Measure.RATIO, DEX, WRITES);
    List<Double> numbers = numbers();
    double dex = numbers.get(0);
    assertThat(numbers.get(3)).isEqualTo(dex / numbers.get(1));
    assertThat(numbers.get(4)).isEqualTo(dex / Math.max(numbers.get(1), numbers.get(2)));
    assertThat(numbers.get(5)).isEqualTo(dex / numbers.get(6));
  }

  @Test
  void shouldRunOnceWhatSeveralRowsNeed() {
    rows.add("20 %, reads", Measure.MOPS, DEX, READS);
    rows.add("20 %, writes", Measure.MOPS, DexOptions.defaults(), WRITES);
    rows.setLab(lab.withCache(0.4));
    rows.addEach("40 %, reads", Measure.EACH_VERB, DEX, READS);
    assertThat(numbers()).hasSize(2 + Measure.EACH_VERB.size());
    assertThat(steps)
        .containsExactly(
            "DEX, 2 + 2 servers, cache of 20 %: read-only, write-only",
            "DEX, 2 + 2 servers, cache of 40 %: read-only");
  }
}
