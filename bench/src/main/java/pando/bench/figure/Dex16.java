package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.dex.DexOptions;

/**
 * DEX, figure 16: keys of 8 to 64 bytes in caches as for 8 bytes, and ORCA's byte strings with the
 * same keys. The paper's text has no numbers, and its rival, SMART, is not here.
 */
final class Dex16 implements Figure {
  private static final List<Integer> KEY_BYTES = List.of(8, 16, 32, 64);
  static final List<Load> LOADS =
      List.of(
          new Load(Workload.READ_ONLY, Distribution.ZIPFIAN).forMillis(1),
          new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN).forMillis(1),
          new Load(Workload.INSERT_ONLY, Distribution.ZIPFIAN).forMillis(1));

  @Override
  public String name() {
    return "dex-16";
  }

  @Override
  public String title() {
    return "DEX figure 16: keys of 8 to 64 bytes, 4 + 4 servers, 144 clients, caches of 8 % of"
        + " records of 16 bytes; byte strings: one client, a cache as large as all four";
  }

  @Override
  public long records() {
    return 100_000;
  }

  @Override
  public Optional<String> remark(List<FigureLine> lines) {
    return Optional.of(
        "The paper gives curves without numbers: throughput falls as keys become longer, in every"
            + " workload.");
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    return run(records, seed, KEY_BYTES, LOADS);
  }

  /** Runs some lengths of keys and some loads. */
  static List<FigureLine> run(long records, long seed, List<Integer> lengths, List<Load> loads) {
    Lab lab = Lab.ofDex(records, seed);
    List<FigureLine> lines = new ArrayList<>();
    for (int keyBytes : lengths) {
      Results dex =
          lab.run(DexOptions.defaults().with("key-bytes", String.valueOf(keyBytes)), loads);
      for (Load load : loads) {
        String what = load.workload() + ", " + keyBytes + " bytes";
        lines.add(new FigureLine(what + ", DEX", "Mops", NOT_GIVEN, dex.megaOps(load)));
        lines.addAll(dex.verbs(what + ", DEX", load));
        RepeatedKeys strings = new RepeatedKeys(keyBytes, records, seed);
        lines.addAll(strings.run(what + ", byte strings", load, lab.allCacheBytes()));
      }
    }
    return lines;
  }
}
