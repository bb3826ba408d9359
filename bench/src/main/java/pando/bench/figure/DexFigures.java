package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;
import static pando.bench.figure.Measure.ATOMICS;
import static pando.bench.figure.Measure.BYTES;
import static pando.bench.figure.Measure.MOPS;
import static pando.bench.figure.Measure.READS;
import static pando.bench.figure.Measure.WRITES;
import static pando.bench.workload.Workload.INSERT_INTENSIVE;
import static pando.bench.workload.Workload.READ_INTENSIVE;
import static pando.bench.workload.Workload.READ_ONLY;
import static pando.bench.workload.Workload.SCAN_INTENSIVE;
import static pando.bench.workload.Workload.WRITE_INTENSIVE;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pando.baselines.sherman.ShermanOptions;
import pando.baselines.sherman.ShermanValidation;
import pando.bench.workload.Distribution;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;

/** The figures of DEX's paper that consist of rows. */
final class DexFigures {
  private static final DexOptions DEX = DexOptions.defaults();
  private static final ShermanOptions P_SHERMAN = ShermanOptions.partitionedSherman();

  /** The Sherman that the paper measured: reads validated by versions. */
  private static final ShermanOptions SHERMAN =
      ShermanOptions.sherman().withValidation(ShermanValidation.VERSIONS);

  /** Those whose curves are drawn beside each other, as they are by default. */
  private static final List<IndexSystem> CURVES =
      List.of(DexOptions.DEX, ShermanOptions.P_SHERMAN, ShermanOptions.SHERMAN);

  /** Clients of a full compute server. */
  private static final int FULL = 36;

  private DexFigures() {}

  static List<Figure> all() {
    return List.of(
        Figure.ofRows(
                "dex-6",
                "DEX figure 6: 4 + 4 servers, 144 clients, 8 % cache",
                Lab::ofDex,
                DexFigures::figure6)
            .because(
                Reason.below(
                    "write-intensive, Zipf 0.99, DEX over P-Sherman: x",
                    "P-Sherman's writers queue locally for a hot leaf and issue one READ and one"
                        + " WRITE each, no atomic"),
                Reason.above(
                    "read-intensive, Zipf 0.99, DEX over Sherman: x",
                    "Sherman's readers with versions READ three times, and again while a hot leaf"
                        + " is locked"),
                Reason.above(
                    "scan-intensive, .*",
                    "A scan of 100 takes 4.0 READs in P-Sherman and 12.0 in Sherman with versions,"
                        + " where DEX takes 1.3")),
        Figure.ofRows(
                "dex-table2",
                "DEX table 2: verbs and bytes per operation, 4 + 4 servers, 8 % cache, zipfian-dex",
                Lab::ofDex,
                DexFigures::table2)
            .because(
                Reason.above(
                    "write-intensive, Sherman: (READs|bytes)",
                    "Sherman write-intensive has more READs than the paper's 2.71, as its readers"
                        + " READ again while a hot leaf is locked"),
                Reason.below(
                    "write-intensive, Sherman: atomics",
                    "There are fewer atomics than the paper's 0.59, as locks are handed over")),
        Figure.ofRows(
                "dex-threads",
                "DEX: threads, up to 36 on each of 1 to 4 compute servers, 4 memory servers, 8 %"
                    + " cache; Mops",
                Lab::ofDex,
                DexFigures::threads)
            .drawnBy(lines -> Plot.curves("Mops", "threads", lines)),
        Figure.ofRows(
                "dex-caches",
                "DEX: cache of each compute server, as a share of the records, 4 + 4 servers, 144"
                    + " clients, Zipf 0.99; Mops",
                Lab::ofDex,
                DexFigures::caches)
            .drawnBy(lines -> Plot.curves("Mops", "cache of each compute server", lines)),
        Figure.ofRows(
            "dex-ablation",
            "DEX with one technique changed, caches of 1 % and 8 %: 4 + 4 servers, 144 clients,"
                + " Zipf 0.99; Mops",
            Lab::ofDex,
            DexFigures::techniques),
        Figure.ofRows(
            "dex-offloading",
            "DEX: offloading by threads of each of 4 memory servers, 4 compute servers, 144"
                + " clients, 1 % cache, lookups",
            (records, seed) -> Lab.ofDex(records, seed).withCache(0.01),
            DexFigures::offloading),
        DexRepartitioning.figure(),
        Dex16.figure());
  }

  /** Throughput over Sherman and P-Sherman. */
  private static void figure6(Rows rows) {
    addFigure6(rows, Load.zipfian(READ_ONLY), 3.6, 2.5);
    addFigure6(rows, Load.zipfian(READ_INTENSIVE), 3.4, 2.5);
    addFigure6(rows, Load.zipfian(WRITE_INTENSIVE), 9.6, 7);
    addFigure6(rows, Load.zipfian(SCAN_INTENSIVE), 2.8, NOT_GIVEN);
    addFigure6(rows, Load.uniform(READ_ONLY), NOT_GIVEN, 1);
    addFigure6(rows, Load.uniform(READ_INTENSIVE), NOT_GIVEN, 1);
    addFigure6(rows, Load.uniform(WRITE_INTENSIVE), NOT_GIVEN, 1);
    addFigure6(rows, Load.uniform(SCAN_INTENSIVE), NOT_GIVEN, 1);
  }

  private static void addFigure6(Rows rows, Load load, double overSherman, double overPartitioned) {
    boolean isUniform = load.distribution() == Distribution.UNIFORM;
    String what = load.workload() + (isUniform ? ", uniform" : ", Zipf 0.99") + ", DEX";
    rows.add(what, MOPS, DEX, load);
    rows.addOver(what + " over Sherman", overSherman, DEX, load, SHERMAN);
    rows.addOver(what + " over P-Sherman", overPartitioned, DEX, load, P_SHERMAN);
  }

  /** Verbs and bytes of an operation. */
  private static void table2(Rows rows) {
    Load reads = new Load(READ_ONLY, Distribution.ZIPFIAN_DEX);
    Load writes = new Load(WRITE_INTENSIVE, Distribution.ZIPFIAN_DEX);
    addTable2(rows, "read-only, DEX", DEX, reads, 0.33, 0, 0, 333.9);
    addTable2(rows, "write-intensive, DEX", DEX, writes, 0.33, 0.19, 0, 524.1);
    addTable2(rows, "read-only, Sherman", SHERMAN, reads, 3.02, 0, 0, 1064.7);
    addTable2(rows, "write-intensive, Sherman", SHERMAN, writes, 2.71, 0.99, 0.59, 1079.0);
    addTable2(rows, "read-only, P-Sherman", P_SHERMAN, reads, 1.00, 0, 0, 1025.0);
    addTable2(rows, "write-intensive, P-Sherman", P_SHERMAN, writes, 1.02, 0.50, 0, 1054.4);
  }

  private static void addTable2(
      Rows rows, String what, IndexOptions index, Load load, double... paper) {
    List<Measure> measures = List.of(READS, WRITES, ATOMICS, BYTES);
    for (int i = 0; i < paper.length; i++) {
      rows.add(what, measures.get(i), paper[i], index, load);
    }
  }

  /**
   * Up to 36 threads on one compute server, then further compute servers of 36. The paper has
   * curves without numbers.
   */
  private static void threads(Rows rows) {
    Lab lab = rows.lab();
    for (IndexSystem system : CURVES) {
      rows.setLab(lab.withOnly(1));
      List.of(2, 9, 18, FULL).forEach(number -> addThreads(rows, system, number));
      for (int servers = 2; servers <= lab.computeServers(); servers++) {
        rows.setLab(lab.withOnly(servers));
        addThreads(rows, system, FULL);
      }
    }
  }

  private static void addThreads(Rows rows, IndexSystem system, int threads) {
    Measure measure = MOPS.as("threads=" + rows.lab().computeServers() * threads);
    for (Load load :
        List.of(
            Load.zipfian(READ_ONLY),
            Load.zipfian(WRITE_INTENSIVE),
            Load.uniform(READ_ONLY),
            Load.uniform(WRITE_INTENSIVE))) {
      rows.add(
          load.name() + ", " + system.title(),
          measure,
          system.defaults(),
          load.withThreads(threads));
    }
  }

  /**
   * Caches of many sizes. The paper has curves without numbers. The warm-up is twice as many
   * operations as there are records, so that large caches settle, too.
   */
  private static void caches(Rows rows) {
    Lab lab = rows.lab();
    for (int percent : List.of(1, 2, 4, 8, 16, 32, 64)) {
      rows.setLab(lab.withCache(percent / 100.0));
      Measure measure = MOPS.as("cache=" + percent + " %");
      for (Load load : List.of(Load.zipfian(READ_ONLY), Load.zipfian(WRITE_INTENSIVE))) {
        for (IndexSystem system : CURVES) {
          String what = load.workload() + ", " + system.title();
          rows.add(what, measure, system.defaults(), load.withWarmup(2 * lab.records()));
        }
      }
    }
  }

  /**
   * One technique changed at a time, with a small cache and with the usual one; beside it a tree
   * with partitions alone, which is P-Sherman, and one without, which is Sherman.
   */
  private static void techniques(Rows rows) {
    Map<String, IndexOptions> variants = new LinkedHashMap<>();
    variants.put("DEX", DEX);
    variants.put("offloading=off", DEX.withOffloading(false));
    variants.put("admission=0.01", DEX.with("admission", "0.01"));
    variants.put("admission=1", DEX.with("admission", "1"));
    variants.put("caching=off", DEX.withCaching(false));
    variants.put("P-Sherman", P_SHERMAN);
    variants.put("Sherman", ShermanOptions.sherman());
    Lab lab = rows.lab();
    for (int percent : List.of(1, 8)) {
      rows.setLab(lab.withCache(percent / 100.0));
      variants.forEach((name, index) ->
          List.of(READ_ONLY, WRITE_INTENSIVE, INSERT_INTENSIVE, SCAN_INTENSIVE)
              .forEach(workload ->
                  rows.add(
                      percent + " %, " + name,
                      MOPS.as(workload.toString()),
                      index,
                      Load.zipfian(workload))));
    }
  }

  /**
   * What offloading gives with a small cache, by the threads of each memory server. The paper gives
   * two numbers, for four threads.
   */
  private static void offloading(Rows rows) {
    addOffloading(rows, Load.zipfian(READ_ONLY), 1.55);
    addOffloading(rows, Load.uniform(READ_ONLY), 1.34);
  }

  private static void addOffloading(Rows rows, Load load, double paper) {
    int most = 4;
    DexOptions without = DEX.withOffloading(false);
    rows.add(load.distribution() + ", no offloading", MOPS, without, load);
    for (int threads = 1; threads <= most; threads++) {
      String what = load.distribution() + ", " + threads + (threads == 1 ? " thread" : " threads");
      Load threaded = load.withProcessorThreads(threads);
      rows.add(what, MOPS, DEX, threaded);
      rows.addOverOther(what, threads == most ? paper : NOT_GIVEN, DEX, threaded, without, load);
    }
  }
}
