package pando.bench.figure;

import static pando.bench.figure.Measure.CACHED;
import static pando.bench.figure.Measure.EACH_VERB;
import static pando.bench.figure.Measure.MOPS;
import static pando.bench.figure.Measure.POOL;
import static pando.bench.workload.Workload.INSERT_INTENSIVE;
import static pando.bench.workload.Workload.INSERT_ONLY;
import static pando.bench.workload.Workload.READ_ONLY;
import static pando.bench.workload.Workload.SCAN_INTENSIVE;
import static pando.bench.workload.Workload.WRITE_INTENSIVE;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import pando.baselines.deft.DeftOptions;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;
import pando.index.Systems;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;

/** The figures that no paper has: ORCA beside the other systems, and all systems. */
final class OwnFigures {
  /** With so many, all figures of ORCA end in some minutes. */
  private static final long ORCA_RECORDS = 500_000;

  private static final List<Integer> SIZES = List.of(1, 2, 4, 8, 16, 32, 64);

  /** Numbers that settings of ORCA take in turn. */
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

  private OwnFigures() {}

  static List<Figure> all() {
    List<Figure> orca =
        Stream.of(
                Figure.ofRows(
                    "orca-table2",
                    "ORCA: verbs and bytes of an operation as in DEX's table 2, 4 + 4 servers, 8 %"
                        + " cache, zipfian-dex",
                    Lab::ofDex,
                    OwnFigures::table2),
                caches(),
                Beside.figure(
                    "orca-workloads",
                    "ORCA: workloads, 4 + 4 servers, 144 clients, 8 % cache, Zipf 0.99 and uniform",
                    Set.of(),
                    OwnFigures::workloads),
                Figure.ofRows(
                    "orca-ablation",
                    "ORCA with one setting changed: 4 + 4 servers, 144 clients, 8 % cache, Zipf"
                        + " 0.99; Mops",
                    Lab::ofDex,
                    OwnFigures::settings),
                scaling())
            .map(figure -> figure.withRecords(ORCA_RECORDS))
            .toList();
    Figure together =
        new Figure(
                "orca",
                "ORCA beside the other systems",
                (records, seed) ->
                    orca.stream().flatMap(part -> part.run(records, seed).stream()).toList())
            .withParts(orca)
            .withRecords(ORCA_RECORDS)
            .summedUpBy(Beside::remark);
    Figure systems =
        Figure.ofRows(
            "systems",
            "All systems: 3 + 3 servers, 108 clients, 8 % cache, Zipf 0.99; each operation, and"
                + " each record in all caches together and in the pool",
            Lab::ofRolex,
            OwnFigures::systems);
    return Stream.of(List.of(together), orca, List.of(systems)).flatMap(List::stream).toList();
  }

  /** Verbs and bytes of all systems, by the protocol of DEX's table 2. */
  private static void table2(Rows rows) {
    for (Workload workload : List.of(READ_ONLY, WRITE_INTENSIVE)) {
      Load load = new Load(workload, Distribution.ZIPFIAN_DEX);
      for (IndexSystem system : Systems.all()) {
        rows.addEach(workload + ", " + system.title(), EACH_VERB, system.defaults(), load);
      }
    }
  }

  /** Beside those that may be second for lookups and updates, with caches of many sizes. */
  private static Figure caches() {
    Map<String, UnaryOperator<Lab>> places = new LinkedHashMap<>();
    SIZES.forEach(percent -> places.put(percent + " %", lab -> lab.withCache(percent / 100.0)));
    return Beside.sweep(
        "orca-caches",
        "ORCA: cache of each compute server, as a share of the records: 4 + 4 servers, 144"
            + " clients, Zipf 0.99",
        "cache of each compute server",
        places,
        List.of(OrcaOptions.ORCA, DexOptions.DEX, DeftOptions.DEFT, ShermanOptions.P_SHERMAN));
  }

  /**
   * Beside DEX with increasing numbers of compute servers. All caches together keep their size, so
   * that each operation needs the pool as often as with few.
   */
  private static Figure scaling() {
    Map<String, UnaryOperator<Lab>> places = new LinkedHashMap<>();
    SIZES.forEach(servers ->
        places.put(
            "compute servers=" + servers,
            lab -> lab.withComputeServers(servers).withCache(0.32 / servers)));
    return Beside.sweep(
        "orca-scaling",
        "ORCA: compute servers of 36 clients each, 4 memory servers, 32 % cache in all, Zipf"
            + " 0.99",
        "compute servers",
        places,
        List.of(OrcaOptions.ORCA, DexOptions.DEX));
  }

  /** DEX's six workloads, and lookups by many clients of one memory server. */
  private static List<FigureLine> workloads(Lab lab) {
    List<Load> loads =
        Stream.of(Distribution.ZIPFIAN, Distribution.UNIFORM)
            // Inserts alone are uniform whatever is asked for.
            .flatMap(asked ->
                Workload.ALL.stream()
                    .filter(workload -> workload.distribution(asked) == asked)
                    .map(workload -> new Load(workload, asked)))
            .toList();
    Beside beside = Beside.run(lab, Systems.all(), loads);
    // Where the messages of one card are the limit, READs alone count.
    Load crowd = Load.uniform(READ_ONLY).withCoroutines(4);
    Beside crowded = Beside.run(lab.withMemoryServers(1), Systems.all(), List.of(crowd));
    return Stream.concat(
            loads.stream().flatMap(load -> beside.lines(load.name(), load).stream()),
            crowded.lines(crowd.name() + ", 1 memory server, 4 coroutines", crowd).stream())
        .toList();
  }

  /** ORCA with one setting changed at a time. */
  private static void settings(Rows rows) {
    variants()
        .forEach((name, index) -> {
          for (Workload workload :
              List.of(READ_ONLY, WRITE_INTENSIVE, INSERT_INTENSIVE, SCAN_INTENSIVE)) {
            rows.add(name, MOPS.as(workload.toString()), index, Load.zipfian(workload));
          }
          Measure pool = POOL.as("pool B/record after inserts");
          rows.add(name, pool, index, Load.zipfian(INSERT_INTENSIVE));
        });
  }

  /** Returns each setting that takes one of several words with each other word, and numbers. */
  static Map<String, OrcaOptions> variants() {
    OrcaOptions defaults = OrcaOptions.defaults();
    Map<String, OrcaOptions> variants = new LinkedHashMap<>();
    variants.put("ORCA", defaults);
    Map<String, List<String>> values = new LinkedHashMap<>(defaults.otherWords());
    values.putAll(NUMBERS);
    values.forEach((name, others) ->
        others.forEach(value -> variants.put(name + "=" + value, defaults.with(name, value))));
    return variants;
  }

  /** The same operations of all systems, after a warm-up of half as many as there are records. */
  private static void systems(Rows rows) {
    for (Workload workload : List.of(READ_ONLY, WRITE_INTENSIVE, INSERT_ONLY)) {
      Load load = Load.zipfian(workload).withWarmup(rows.lab().records() / 2);
      for (IndexSystem system : Systems.all()) {
        String what = workload + ", " + system.title();
        rows.addEach(what, EACH_VERB, system.defaults(), load);
        rows.addEach(what, List.of(CACHED, POOL, MOPS), system.defaults(), load);
      }
    }
  }
}
