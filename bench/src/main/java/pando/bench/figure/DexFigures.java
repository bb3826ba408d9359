package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;
import static pando.bench.figure.Measure.ATOMICS;
import static pando.bench.figure.Measure.BYTES;
import static pando.bench.figure.Measure.MOPS;
import static pando.bench.figure.Measure.READS;
import static pando.bench.figure.Measure.WRITES;
import static pando.bench.workload.Workload.INSERT_INTENSIVE;
import static pando.bench.workload.Workload.INSERT_ONLY;
import static pando.bench.workload.Workload.READ_INTENSIVE;
import static pando.bench.workload.Workload.READ_INTENSIVE_2;
import static pando.bench.workload.Workload.READ_ONLY;
import static pando.bench.workload.Workload.SCAN_INTENSIVE;
import static pando.bench.workload.Workload.WRITE_INTENSIVE;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pando.baselines.sherman.ShermanOptions;
import pando.baselines.sherman.ShermanValidation;
import pando.baselines.smart.SmartOptions;
import pando.bench.keys.KeySet;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.Systems;
import pando.index.dex.DexOptions;

/** The figures of DEX's paper that consist of rows. */
final class DexFigures {
  private static final DexOptions DEX = DexOptions.defaults();
  private static final ShermanOptions P_SHERMAN = ShermanOptions.partitionedSherman();

  /** The Sherman that the paper measured: reads validated by versions. */
  private static final ShermanOptions SHERMAN =
      ShermanOptions.sherman().withValidation(ShermanValidation.VERSIONS);

  private static final SmartOptions SMART = SmartOptions.smart();
  private static final SmartOptions P_SMART = SmartOptions.partitionedSmart();

  /** Those whose curves are drawn beside each other, as they are by default. */
  private static final List<IndexSystem> CURVES =
      List.of(
          DexOptions.DEX,
          ShermanOptions.P_SHERMAN,
          ShermanOptions.SHERMAN,
          SmartOptions.P_SMART,
          SmartOptions.SMART);

  private static final Reason CENTRAL_QUEUE =
      Reason.below(
          "(read|write)-.*, DEX over (P-)?SMART: x",
          "In DEX's runs the one queue of SMART's cache takes 49 % of the processor time, and does"
              + " not scale; here the cache has up to 64 queues, and every index takes the same"
              + " processor time");

  private static final List<Measure> TABLE2 = List.of(READS, WRITES, ATOMICS, BYTES);

  /** Clients of a full compute server. */
  private static final int FULL = 36;

  private DexFigures() {}

  static List<Figure> all() {
    return List.of(
        Figure.ofRows(
                "dex-6",
                "DEX figures 6 and 7: 4 + 4 servers, 144 clients, 8 % cache",
                Lab::ofDex,
                DexFigures::figure6)
            .because(
                CENTRAL_QUEUE,
                Reason.below(
                    "scan-intensive, .*, DEX over (P-)?SMART: x",
                    "SMART's public code scans level by level and READs 2,064 bytes of each inner"
                        + " node; here a scan READs the slots that a node has, and up to 64 leaves"
                        + " at a time"),
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
                "dex-15",
                "DEX figure 15: inserts, 4 + 4 servers, 144 clients, 8 % cache",
                Lab::ofDex,
                DexFigures::figure15)
            .because(CENTRAL_QUEUE),
        Figure.ofRows(
                "dex-17",
                "DEX figure 17: skew, 4 + 4 servers, 144 clients, 8 % cache; Mops",
                Lab::ofDex,
                DexFigures::figure17)
            .drawnBy(lines -> Plot.curves("Mops", "theta", lines)),
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

  /** Throughput over that of the others. Of uniform loads the paper gives little in numbers. */
  private static void figure6(Rows rows) {
    addOthers(rows, Load.zipfian(READ_ONLY), 3.6, 2.5, 9.6, 7.1);
    addOthers(rows, Load.zipfian(READ_INTENSIVE), 3.4, 2.5, 8.2, 5.3);
    addOthers(rows, Load.zipfian(WRITE_INTENSIVE), 9.6, 7, 7, 4.4);
    addOthers(rows, Load.zipfian(SCAN_INTENSIVE), 2.8, NOT_GIVEN, 56.3, 48.4);
    for (Workload workload : List.of(READ_ONLY, READ_INTENSIVE, WRITE_INTENSIVE, SCAN_INTENSIVE)) {
      addOthers(rows, Load.uniform(workload), NOT_GIVEN, 1, NOT_GIVEN, NOT_GIVEN);
    }
  }

  /** Few inserts, and inserts alone. */
  private static void figure15(Rows rows) {
    addOthers(rows, Load.zipfian(READ_INTENSIVE_2), 4, 2.4, 10, 6.1);
    addOthers(rows, Load.uniform(READ_INTENSIVE_2), NOT_GIVEN, 1, NOT_GIVEN, NOT_GIVEN);
    addOthers(rows, Load.uniform(INSERT_ONLY), NOT_GIVEN, NOT_GIVEN, NOT_GIVEN, NOT_GIVEN);
  }

  /**
   * Adds DEX's throughput, and that over each of the others.
   *
   * @param paper the ratios over Sherman, P-Sherman, SMART and P-SMART
   */
  private static void addOthers(Rows rows, Load load, double... paper) {
    boolean isUniform = load.distribution() == Distribution.UNIFORM;
    String what = load.workload() + (isUniform ? ", uniform" : ", Zipf 0.99") + ", DEX";
    rows.add(what, MOPS, DEX, load);
    List<IndexOptions> others = List.of(SHERMAN, P_SHERMAN, SMART, P_SMART);
    for (int i = 0; i < paper.length; i++) {
      IndexOptions other = others.get(i);
      String title = Systems.named(other.system()).title();
      rows.addOver(what + " over " + title, paper[i], DEX, load, other);
    }
  }

  /** Skew, from 0.5 on. The paper has curves without numbers. */
  private static void figure17(Rows rows) {
    for (Workload workload : List.of(READ_ONLY, WRITE_INTENSIVE)) {
      for (IndexSystem system : CURVES) {
        for (double theta : List.of(0.5, 0.6, 0.7, 0.8, 0.9, 0.99)) {
          rows.add(
              workload + ", " + system.title(),
              MOPS.as("theta=" + theta),
              system.defaults(),
              Load.zipfian(workload).withTheta(theta));
        }
      }
    }
  }

  /**
   * Verbs and bytes of an operation. SMART's depend on the keys and the values: dense keys and same
   * values are the paper's.
   */
  private static void table2(Rows rows) {
    Load reads = new Load(READ_ONLY, Distribution.ZIPFIAN_DEX);
    Load writes = new Load(WRITE_INTENSIVE, Distribution.ZIPFIAN_DEX);
    addTable2(rows, "read-only, DEX", DEX, reads, 0.33, 0, 0, 333.9);
    addTable2(rows, "write-intensive, DEX", DEX, writes, 0.33, 0.19, 0, 524.1);
    addTable2(rows, "read-only, Sherman", SHERMAN, reads, 3.02, 0, 0, 1064.7);
    addTable2(rows, "write-intensive, Sherman", SHERMAN, writes, 2.71, 0.99, 0.59, 1079.0);
    addTable2(rows, "read-only, P-Sherman", P_SHERMAN, reads, 1.00, 0, 0, 1025.0);
    addTable2(rows, "write-intensive, P-Sherman", P_SHERMAN, writes, 1.02, 0.50, 0, 1054.4);
    Load denseReads = reads.withKeys(KeySet.DENSE);
    Load denseWrites = writes.withKeys(KeySet.DENSE);
    // Only the first update of a record writes, so the warm-up must be long.
    Load sameWrites = denseWrites.withSameValues().withWarmup(rows.lab().records() / 2);
    addTable2(rows, "read-only, SMART, dense keys", SMART, denseReads, 1.44, 0, 0, 997.0);
    addTable2(
        rows,
        "write-intensive, SMART, dense keys, same values",
        SMART,
        sameWrites,
        1.45,
        0.11,
        0.11,
        1002.9);
    addTable2(rows, "read-only, P-SMART, dense keys", P_SMART, denseReads, 1.15, 0, 0, 397.4);
    addTable2(
        rows,
        "write-intensive, P-SMART, dense keys, same values",
        P_SMART,
        sameWrites,
        1.16,
        0.13,
        0,
        404.2);
    for (SmartOptions smart : List.of(SMART, P_SMART)) {
      String title = Systems.named(smart.system()).title();
      rows.addEach("read-only, " + title, TABLE2, smart, reads);
      rows.addEach("write-intensive, " + title, TABLE2, smart, writes);
      rows.addEach("write-intensive, " + title + ", dense keys", TABLE2, smart, denseWrites);
    }
  }

  private static void addTable2(
      Rows rows, String what, IndexOptions index, Load load, double... paper) {
    for (int i = 0; i < paper.length; i++) {
      rows.add(what, TABLE2.get(i), paper[i], index, load);
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
