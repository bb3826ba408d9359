package pando.bench.figure;

import static pando.bench.figure.Measure.EACH_VERB;
import static pando.bench.figure.Measure.MOPS;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import pando.bench.workload.Workload;
import pando.index.dex.DexOptions;

/**
 * DEX, figure 16: keys of 8 to 64 bytes in caches as for 8 bytes, and ORCA's byte strings with the
 * same keys. The paper's text has no numbers, and its rival, SMART, is not here.
 */
final class Dex16 {
  /**
   * With 8-byte keys these are eight subtrees of level M, so two for each memory server: one that
   * has more than others would hold up the shortest keys alone.
   */
  private static final long RECORDS = 600_000;

  private static final List<Integer> KEY_BYTES = List.of(8, 16, 32, 64);
  static final List<Load> LOADS =
      List.of(
          Load.zipfian(Workload.READ_ONLY).forMillis(1),
          Load.zipfian(Workload.WRITE_INTENSIVE).forMillis(1),
          Load.zipfian(Workload.INSERT_ONLY).forMillis(1));

  private Dex16() {}

  static Figure figure() {
    return new Figure(
            "dex-16",
            "DEX figure 16: keys of 8 to 64 bytes, 4 + 4 servers, 144 clients, caches of 8 % of"
                + " records of 16 bytes; byte strings: one client, a cache as large as all four",
            (records, seed) -> run(records, seed, KEY_BYTES, LOADS))
        .withRecords(RECORDS)
        .summedUpBy(Dex16::remark);
  }

  private static Optional<String> remark(List<FigureLine> lines) {
    String ours =
        LOADS.stream()
            .map(load -> load.workload() + " " + falls(lines, load))
            .collect(Collectors.joining(", "));
    return Optional.of(
        "The paper gives curves without numbers: throughput falls as keys become longer, in every"
            + " workload. Here, as shares of that with 8 bytes: "
            + ours
            + ".");
  }

  /** Returns a load's throughput with longer keys over that with the shortest. */
  private static String falls(List<FigureLine> lines, Load load) {
    double shortest = megaOps(lines, load, KEY_BYTES.getFirst());
    return KEY_BYTES.stream()
        .skip(1)
        .map(bytes -> Math.round(100 * megaOps(lines, load, bytes) / shortest) + " %")
        .collect(Collectors.joining(", "));
  }

  private static double megaOps(List<FigureLine> lines, Load load, int keyBytes) {
    return lines.stream()
        .filter(
            line -> line.what().equals(name(load, keyBytes)) && line.measure().equals(MOPS.name()))
        .mapToDouble(FigureLine::ours)
        .findFirst()
        .orElse(Double.NaN);
  }

  private static String name(Load load, int keyBytes) {
    return load.workload() + ", " + keyBytes + " bytes, DEX";
  }

  /** Runs some lengths of keys and some loads. */
  static List<FigureLine> run(long records, long seed, List<Integer> lengths, List<Load> loads) {
    Lab lab = Lab.ofDex(records, seed);
    List<FigureLine> lines = new ArrayList<>();
    for (int keyBytes : lengths) {
      Results dex =
          lab.run(DexOptions.defaults().with("key-bytes", String.valueOf(keyBytes)), loads);
      Map<Load, List<FigureLine>> strings =
          new RepeatedKeys(keyBytes, records, seed).run(loads, lab.allCacheBytes());
      for (Load load : loads) {
        String what = name(load, keyBytes);
        lines.addAll(dex.lines(what, List.of(MOPS), load));
        lines.addAll(dex.lines(what, EACH_VERB, load));
        lines.addAll(strings.getOrDefault(load, List.of()));
      }
    }
    return lines;
  }
}
