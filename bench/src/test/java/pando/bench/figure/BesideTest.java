package pando.bench.figure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.baselines.deft.DeftOptions;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;
import pando.sim.ClusterModel;

@Timeout(300)
final class BesideTest {
  private static final List<IndexSystem> SYSTEMS =
      List.of(OrcaOptions.ORCA, DexOptions.DEX, DeftOptions.DEFT);
  private static final Load ZIPFIAN = new Load(Workload.READ_ONLY, Distribution.ZIPFIAN);
  private static final Load UNIFORM = new Load(Workload.READ_ONLY, Distribution.UNIFORM);

  private final Lab lab =
      new Lab(2, 2, true, 4, 0.08, 0.7, index -> ClusterModel.defaults(), 100_000, 1);

  @Tag("campaign")
  @Test
  void shouldNameTheBestOfTheOthersForEachLoad() {
    List<Load> loads = List.of(ZIPFIAN, UNIFORM);
    Beside beside = Beside.run(lab, SYSTEMS, loads);
    Map<IndexSystem, Results> alone = lab.runEach(SYSTEMS, loads);
    for (Load load : loads) {
      IndexSystem best =
          mops(alone, DexOptions.DEX, load) > mops(alone, DeftOptions.DEFT, load)
              ? DexOptions.DEX
              : DeftOptions.DEFT;
      List<FigureLine> row = beside.lines("some", load);
      assertThat(row).extracting(FigureLine::what).containsOnly("some, beside " + best.title());
      Map<String, Double> numbers =
          row.stream().collect(Collectors.toMap(FigureLine::measure, FigureLine::ours));
      double orca = mops(alone, OrcaOptions.ORCA, load);
      assertThat(numbers)
          .containsEntry("ORCA Mops", orca)
          .containsEntry("DEX Mops", mops(alone, DexOptions.DEX, load))
          .containsEntry("best Mops", mops(alone, best, load));
      assertThat(numbers.get("x")).isCloseTo(orca / mops(alone, best, load), within(1e-9));
      assertThat(numbers.get("ORCA bytes")).isLessThan(numbers.get("best bytes"));
    }
  }

  private static double mops(Map<IndexSystem, Results> results, IndexSystem system, Load load) {
    return Objects.requireNonNull(results.get(system)).number(Measure.MOPS, load);
  }

  @Tag("campaign")
  @Test
  void shouldReadLessWithLargerCaches() {
    List<IndexSystem> systems = List.of(OrcaOptions.ORCA, DexOptions.DEX);
    List<Load> loads = List.of(ZIPFIAN);
    Map<IndexSystem, Results> little = lab.withCache(0.1).runEach(systems, loads);
    Map<IndexSystem, Results> much = lab.withCache(0.64).runEach(systems, loads);
    little.forEach((system, its) ->
        assertThat(Objects.requireNonNull(much.get(system)).number(Measure.BYTES_READ, ZIPFIAN))
            .as(system.name())
            .isLessThan(its.number(Measure.BYTES_READ, ZIPFIAN) / 2));
  }

  @Test
  void shouldSayWhereOrcaIsBehind() {
    Figure figure = Figure.named("orca-workloads").orElseThrow();
    FigureLine ahead = new FigureLine("a, beside DEX", "x", FigureLine.NOT_GIVEN, 1.5);
    FigureLine behind = new FigureLine("b, beside DEFT", "x", FigureLine.NOT_GIVEN, 0.5);
    FigureLine other = new FigureLine("b, beside DEFT", "ORCA Mops", FigureLine.NOT_GIVEN, 0.3);
    assertThat(figure.remark(List.of(ahead, behind, other)))
        .contains("ORCA does not lead in 1 of 2 rows: b, beside DEFT (0.50 x).");
    assertThat(figure.remark(List.of(ahead))).contains("ORCA does not lead in 0 of 1 rows.");
    assertThat(figure.remark(List.of(other))).isEmpty();
  }

  @Test
  void shouldChangeOneSettingInEachRow() {
    Map<String, OrcaOptions> variants = OwnFigures.variants();
    assertThat(variants)
        .containsKeys("ORCA", "cache=segments", "cache=leaves", "twin=off", "delta-changes=1");
    assertThat(variants.values()).doesNotHaveDuplicates().allSatisfy(OrcaOptions::check);
  }
}
