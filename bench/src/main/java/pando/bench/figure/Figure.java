package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import pando.bench.figure.Lab.Load;
import pando.bench.run.Measurement;
import pando.bench.simulate.SimResult;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.dex.DexOptions;
import pando.index.sherman.ShermanOptions;

/** A figure or table of a paper. */
public enum Figure {
  /** Sherman, figure 10: what each technique adds under skew. */
  SHERMAN_10("Sherman figure 10: 8 + 8 servers, 176 clients, Zipf 0.99") {
    @Override
    public List<FigureLine> run(long records, long seed) {
      return shermanSkewed(records, seed);
    }
  },

  /** Sherman, figure 11, and the end of figure 13: the same without skew. */
  SHERMAN_11("Sherman figures 11 and 13: 8 + 8 servers, uniform") {
    @Override
    public List<FigureLine> run(long records, long seed) {
      return shermanUniform(records, seed);
    }
  },

  /** DEX, figure 6: throughput over Sherman and P-Sherman. */
  DEX_6("DEX figure 6: 4 + 4 servers, 144 clients, 8 % cache") {
    @Override
    public List<FigureLine> run(long records, long seed) {
      return dexOverSherman(records, seed);
    }
  },

  /** DEX, table 2: verbs and bytes of an operation. */
  DEX_TABLE2("DEX table 2: verbs and bytes per operation, 4 + 4 servers, 8 % cache, zipfian-dex") {
    @Override
    public List<FigureLine> run(long records, long seed) {
      return verbs(records, seed);
    }
  };

  private static final double SHERMAN_FILL = 0.8;
  private static final double DEX_FILL = 0.7;
  private static final double CACHE = 0.08;
  private static final long SHERMAN_WARMUP = 2_000_000;
  private static final long MILLI = 1_000_000;

  /** Locks that collapse swing for long. */
  private static final long LONG = 60 * MILLI;

  private static final long SHORT = 4 * MILLI;

  private final String title;

  Figure(String title) {
    this.title = title;
  }

  /**
   * Runs it.
   *
   * @param records to load; the papers have 10 to 50 times as many as the default of 20 M
   */
  public abstract List<FigureLine> run(long records, long seed);

  /** Returns what it is, in a line. */
  public String title() {
    return title;
  }

  /** Returns the name on the command line, such as {@code sherman-10}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  // Sherman.

  private static Map<String, IndexOptions> steps() {
    Map<String, IndexOptions> steps = new LinkedHashMap<>();
    IndexOptions fg = ShermanOptions.fg();
    steps.put("FG+", fg);
    steps.put("+ combine", fg.with("combine", "on"));
    steps.put("+ on-chip", fg.with("combine", "on").with("on-chip-locks", "on"));
    steps.put("+ hierarchical", ShermanOptions.sherman().with("entry-writes", "off"));
    steps.put("Sherman", ShermanOptions.sherman());
    return steps;
  }

  private static List<FigureLine> shermanSkewed(long records, long seed) {
    Lab lab = new Lab(8, 22, records, SHERMAN_FILL, seed, true);
    double[] papers = {0.34, 0.34 * 3.37, 0.34 * 3.37 * 3.06, 0.34 * 3.37 * 3.06 * 2.22, 8.0};
    List<FigureLine> lines = new ArrayList<>();
    List<Load> loads =
        List.of(
            new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN, LONG),
            new Load(Workload.WRITE_ONLY, Distribution.ZIPFIAN, LONG),
            new Load(Workload.READ_INTENSIVE, Distribution.ZIPFIAN, SHORT));
    List<List<SimResult>> all = new ArrayList<>();
    int step = 0;
    for (Map.Entry<String, IndexOptions> each : steps().entrySet()) {
      List<SimResult> results = lab.run(cached(each.getValue(), lab), SHERMAN_WARMUP, loads);
      all.add(results);
      String what = "write-intensive, " + each.getKey();
      lines.add(new FigureLine(what, "Mops", papers[step], megaOps(results.get(0))));
      double p99 = step == 0 ? 19.89 : step == 4 ? 19.89 / 30.2 : NOT_GIVEN;
      lines.add(new FigureLine(what, "p99 ms", p99, p99Nanos(results.get(0)) / 1e6));
      step++;
    }
    SimResult fg = all.getFirst().get(0);
    SimResult sherman = all.getLast().get(0);
    lines.add(new FigureLine("write-intensive, Sherman over FG+", "x", 23.6, ratio(sherman, fg)));
    lines.add(
        new FigureLine(
            "write-only, Sherman over FG+",
            "x",
            24.7,
            ratio(all.getLast().get(1), all.getFirst().get(1))));
    lines.add(new FigureLine("read-intensive, FG+", "Mops", 32.9, megaOps(all.getFirst().get(2))));
    lines.add(
        new FigureLine(
            "read-intensive, Sherman over FG+",
            "x",
            1.0,
            ratio(all.getLast().get(2), all.getFirst().get(2))));
    addRoundTrips(lines, lab);
    return lines;
  }

  private static void addRoundTrips(List<FigureLine> lines, Lab lab) {
    List<Load> loads = List.of(new Load(Workload.WRITE_ONLY, Distribution.ZIPFIAN, 8 * MILLI));
    SimResult sherman =
        lab.run(cached(ShermanOptions.sherman(), lab), SHERMAN_WARMUP, loads).getFirst();
    SimResult fg = lab.run(cached(ShermanOptions.fg(), lab), SHERMAN_WARMUP, loads).getFirst();
    lines.add(
        new FigureLine("writes, Sherman", "% in at most 3 round trips", 97.2, share(sherman, 3)));
    lines.add(
        new FigureLine("writes, Sherman", "% in at most 2 round trips", 3.6, share(sherman, 2)));
    lines.add(
        new FigureLine(
            "writes, Sherman",
            "p99 round trips",
            11,
            sherman.roundTrips().getValueAtPercentile(99)));
    lines.add(
        new FigureLine(
            "writes, FG+", "p99 round trips", 453, fg.roundTrips().getValueAtPercentile(99)));
  }

  private static List<FigureLine> shermanUniform(long records, long seed) {
    Lab lab = new Lab(8, 22, records, SHERMAN_FILL, seed, true);
    List<Load> loads =
        List.of(
            new Load(Workload.WRITE_INTENSIVE, Distribution.UNIFORM, SHORT),
            new Load(Workload.WRITE_ONLY, Distribution.UNIFORM, SHORT),
            new Load(Workload.READ_INTENSIVE, Distribution.UNIFORM, SHORT),
            new Load(Workload.WRITE_INTENSIVE, Distribution.UNIFORM, 3, SHORT));
    List<SimResult> fg = lab.run(cached(ShermanOptions.fg(), lab), SHERMAN_WARMUP, loads);
    List<SimResult> sherman = lab.run(cached(ShermanOptions.sherman(), lab), SHERMAN_WARMUP, loads);
    List<FigureLine> lines = new ArrayList<>();
    lines.add(new FigureLine("write-intensive, FG+", "Mops", 18.7, megaOps(fg.get(0))));
    lines.add(
        new FigureLine(
            "write-intensive, Sherman over FG+", "x", 1.15, ratio(sherman.get(0), fg.get(0))));
    lines.add(
        new FigureLine(
            "write-only, Sherman over FG+", "x", 1.24, ratio(sherman.get(1), fg.get(1))));
    lines.add(new FigureLine("read-intensive, FG+", "Mops", 31.8, megaOps(fg.get(2))));
    lines.add(new FigureLine("528 clients, Sherman", "Mops", 44, megaOps(sherman.get(3))));
    lines.add(
        new FigureLine(
            "528 clients, Sherman over FG+", "x", 1.14, ratio(sherman.get(3), fg.get(3))));
    return lines;
  }

  // DEX beside Sherman.

  private static List<FigureLine> dexOverSherman(long records, long seed) {
    Lab lab = new Lab(4, 36, records, DEX_FILL, seed, false);
    List<Workload> workloads =
        List.of(
            Workload.READ_ONLY,
            Workload.READ_INTENSIVE,
            Workload.WRITE_INTENSIVE,
            Workload.SCAN_INTENSIVE);
    double[] overSherman = {3.6, 3.4, 9.6, 2.8};
    double[] overPartitioned = {2.5, 2.5, 7, NOT_GIVEN};
    List<Load> loads = new ArrayList<>();
    for (Distribution distribution : List.of(Distribution.ZIPFIAN, Distribution.UNIFORM)) {
      workloads.forEach(workload -> loads.add(new Load(workload, distribution, SHORT)));
    }
    List<SimResult> dex = lab.run(cached(DexOptions.defaults(), lab), warmup(records), loads);
    List<SimResult> sherman = lab.run(cached(corrected(), lab), SHERMAN_WARMUP, loads);
    List<SimResult> partitioned =
        lab.run(cached(ShermanOptions.partitionedSherman(), lab), SHERMAN_WARMUP, loads);
    List<FigureLine> lines = new ArrayList<>();
    for (int i = 0; i < loads.size(); i++) {
      boolean skewed = i < workloads.size();
      String what = loads.get(i).workload() + (skewed ? ", Zipf 0.99" : ", uniform");
      lines.add(new FigureLine(what + ", DEX", "Mops", NOT_GIVEN, megaOps(dex.get(i))));
      lines.add(
          new FigureLine(
              what + ", DEX over Sherman",
              "x",
              skewed ? overSherman[i] : NOT_GIVEN,
              ratio(dex.get(i), sherman.get(i))));
      lines.add(
          new FigureLine(
              what + ", DEX over P-Sherman",
              "x",
              skewed ? overPartitioned[i] : 1.0,
              ratio(dex.get(i), partitioned.get(i))));
    }
    return lines;
  }

  private static List<FigureLine> verbs(long records, long seed) {
    Lab lab = new Lab(4, 36, records, DEX_FILL, seed, false);
    List<Load> loads =
        List.of(
            new Load(Workload.READ_ONLY, Distribution.ZIPFIAN_DEX, SHORT),
            new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN_DEX, SHORT));
    List<FigureLine> lines = new ArrayList<>();
    List<SimResult> dex = lab.run(cached(DexOptions.defaults(), lab), warmup(records), loads);
    add(lines, "read-only, DEX", dex.get(0), 0.33, 0, 0, 333.9);
    add(lines, "write-intensive, DEX", dex.get(1), 0.33, 0.19, 0, 524.1);
    List<SimResult> sherman = lab.run(cached(corrected(), lab), SHERMAN_WARMUP, loads);
    add(lines, "read-only, Sherman", sherman.get(0), 3.02, 0, 0, 1064.7);
    add(lines, "write-intensive, Sherman", sherman.get(1), 2.71, 0.99, 0.59, 1079.0);
    List<SimResult> partitioned =
        lab.run(cached(ShermanOptions.partitionedSherman(), lab), SHERMAN_WARMUP, loads);
    add(lines, "read-only, P-Sherman", partitioned.get(0), 1.00, 0, 0, 1025.0);
    add(lines, "write-intensive, P-Sherman", partitioned.get(1), 1.02, 0.50, 0, 1054.4);
    return lines;
  }

  private static void add(
      List<FigureLine> lines,
      String what,
      SimResult result,
      double reads,
      double writes,
      double atomics,
      double bytes) {
    Measurement measured = result.measurement();
    lines.add(new FigureLine(what, "READs", reads, measured.perOperation(measured.verbs.reads)));
    lines.add(new FigureLine(what, "WRITEs", writes, measured.perOperation(measured.verbs.writes)));
    lines.add(
        new FigureLine(what, "atomics", atomics, measured.perOperation(measured.verbs.atomics)));
    lines.add(new FigureLine(what, "bytes", bytes, measured.perOperation(measured.verbs.bytes())));
  }

  /** Returns the Sherman that the DEX paper measured: reads validated by versions. */
  private static IndexOptions corrected() {
    return ShermanOptions.sherman().with("validation", "versions");
  }

  private static IndexOptions cached(IndexOptions options, Lab lab) {
    return options.withCacheBytes(lab.cacheBytes(CACHE));
  }

  /** Returns how many operations fill DEX's caches. */
  private static long warmup(long records) {
    return records / 2;
  }

  private static double megaOps(SimResult result) {
    return result.measurement().throughput / 1e6;
  }

  private static double ratio(SimResult one, SimResult other) {
    return one.measurement().throughput / other.measurement().throughput;
  }

  private static double p99Nanos(SimResult result) {
    return result.measurement().latencyNanos(99);
  }

  private static double share(SimResult result, long roundTrips) {
    return result.roundTrips().getPercentileAtOrBelowValue(roundTrips);
  }
}
