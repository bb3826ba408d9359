package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.orca.OrcaOptions;

/**
 * ORCA with one setting changed at a time: each that takes one of several words with each other
 * word, and numbers.
 */
final class OrcaAblation implements OrcaFigure {
  private static final Load INSERTS = zipfian(Workload.INSERT_INTENSIVE);
  private static final List<Load> LOADS =
      List.of(
          zipfian(Workload.READ_ONLY),
          zipfian(Workload.WRITE_INTENSIVE),
          INSERTS,
          zipfian(Workload.SCAN_INTENSIVE));

  private static final Map<String, List<String>> NUMBERS = new LinkedHashMap<>();

  static {
    NUMBERS.put("counts", List.of("0", "1"));
    NUMBERS.put("delta-changes", List.of("1", "16"));
    NUMBERS.put("delta-share", List.of("0.05", "0.5"));
    NUMBERS.put("image-share", List.of("0.14", "0.75"));
    NUMBERS.put("mergers", List.of("0"));
    NUMBERS.put("leaf-share", List.of("0.5", "1"));
    NUMBERS.put("merge-share", List.of("0", "0.4"));
    NUMBERS.put("page-children", List.of("16"));
    NUMBERS.put("node-bytes", List.of("1024", "2048"));
  }

  private static Load zipfian(Workload workload) {
    return new Load(workload, Distribution.ZIPFIAN);
  }

  @Override
  public String name() {
    return "orca-ablation";
  }

  @Override
  public String title() {
    return "ORCA with one setting changed: 4 + 4 servers, 144 clients, 8 % cache, Zipf 0.99;"
        + " Mops";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed);
    List<FigureLine> lines = new ArrayList<>();
    variants(OrcaOptions.defaults())
        .forEach((name, options) -> {
          Results results = lab.run(options, LOADS);
          LOADS.forEach(
              load -> add(lines, name, load.workload().toString(), results.megaOps(load)));
          double poolBytes = results.footprint(INSERTS).poolBytesPerRecord();
          add(lines, name, "pool B/record after inserts", poolBytes);
        });
    return lines;
  }

  static Map<String, OrcaOptions> variants(OrcaOptions defaults) {
    Map<String, OrcaOptions> variants = new LinkedHashMap<>();
    variants.put("ORCA", defaults);
    Map<String, List<String>> values = new LinkedHashMap<>(defaults.otherWords());
    values.putAll(NUMBERS);
    values.forEach((name, others) ->
        others.forEach(value -> variants.put(name + "=" + value, defaults.with(name, value))));
    return variants;
  }

  private static void add(List<FigureLine> lines, String what, String measure, double ours) {
    lines.add(new FigureLine(what, measure, NOT_GIVEN, ours));
  }
}
