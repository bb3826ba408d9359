package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;
import static pando.bench.figure.Measure.BYTES_READ;
import static pando.bench.figure.Measure.CACHED;
import static pando.bench.figure.Measure.MOPS;
import static pando.bench.figure.Measure.P99_MICROS;
import static pando.bench.figure.Measure.POOL;
import static pando.bench.workload.Workload.INSERT_INTENSIVE;
import static pando.bench.workload.Workload.INSERT_ONLY;
import static pando.bench.workload.Workload.READ_INTENSIVE;
import static pando.bench.workload.Workload.READ_ONLY;
import static pando.bench.workload.Workload.WRITE_INTENSIVE;
import static pando.bench.workload.Workload.YCSB_D;
import static pando.bench.workload.Workload.YCSB_E;
import static pando.bench.workload.Workload.YCSB_F;

import java.util.List;
import java.util.stream.Stream;
import pando.baselines.deft.DeftOptions;
import pando.baselines.emt.EmtOptions;
import pando.baselines.rolex.RolexOptions;
import pando.baselines.sherman.ShermanOptions;
import pando.bench.keys.KeySet;
import pando.bench.workload.Workload;
import pando.index.IndexOptions;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;

/** The figures of ROLEX's paper that consist of rows. */
final class RolexFigures {
  private static final IndexOptions ROLEX = RolexOptions.rolex();

  /** The systems that the paper compares ROLEX with. */
  private static final List<IndexSystem> OTHERS =
      List.of(ShermanOptions.SHERMAN, ShermanOptions.FG, RolexOptions.XSTORE_D, EmtOptions.EMT_D);

  private static final List<IndexSystem> IN_PAPER =
      Stream.concat(Stream.of(RolexOptions.ROLEX), OTHERS.stream()).toList();

  private static final int NODE_BYTES = 1 << 10;
  private static final int NODE_ENTRIES = 60;

  private RolexFigures() {}

  static List<Figure> all() {
    return List.of(
        Figure.ofRows(
                "rolex-ycsb",
                "ROLEX: YCSB and inserts, 3 + 3 servers, 108 clients, Zipf 0.99;"
                    + " of each of the paper's ranges the lower bound",
                Lab::ofRolex,
                RolexFigures::ycsb)
            .because(
                Reason.above(
                    "[AF], ROLEX over FG\\+: x",
                    "FG+ falls far behind in A and F, as its locks in host memory collapse under"
                        + " skew"),
                Reason.below(
                    "[AF], ROLEX over .*: x",
                    "With Zipf 0.99, writes of the hottest key wait for each other: one in 20"
                        + " operations is its, and each holds the lock of its model for two round"
                        + " trips, so that A and F end where Sherman's do, and behind a memory"
                        + " server's processor, which needs 0.55 us"),
                Reason.above(
                    "[BDF], ROLEX over EMT-D: x",
                    "One thread of a memory server ends a CALL of EMT-D every 0.55 us at best, so"
                        + " that three servers do at most 5.4 million operations a second"),
                Reason.above(
                    "insert-(only|intensive), .*: x",
                    "Of the paper's range for inserts, 1.8 to 4.3, the lower end is compared")),
        Figure.ofRows(
                "rolex-scaling",
                "ROLEX: cores of each of 3 compute servers, 3 memory servers, Zipf 0.99; Mops",
                Lab::ofRolex,
                RolexFigures::cores)
            .drawnBy(lines -> Plot.curves("Mops", "clients of each compute server", lines)),
        Figure.ofRows(
            "rolex-data",
            "ROLEX: sets of keys, 3 + 3 servers, 108 clients, Zipf 0.99; memory of one compute"
                + " server, and of a B+-tree's inner nodes",
            Lab::ofRolex,
            RolexFigures::keySets),
        RolexRetraining.figure(),
        Figure.ofRows(
            "rolex-empty",
            "ROLEX: inserts alone from an empty index on, for up to 40 ms, 3 + 3 servers, 108"
                + " clients",
            Lab::ofRolex,
            RolexFigures::fromEmpty));
  }

  /**
   * YCSB and inserts. The paper gives ranges over workloads and systems; the lower bounds are used
   * here: 1.3 to 2.8 on YCSB with writes, 1.8 to 4.3 on inserts, and equal to the best for
   * read-only workloads.
   */
  private static void ycsb(Rows rows) {
    // Leaves are loaded with free room: the cost of inserts shows only after it is used up.
    long grown = rows.lab().records() / 2;
    IndexOptions[] others = OTHERS.stream().map(IndexSystem::defaults).toArray(IndexOptions[]::new);
    addYcsb(rows, "A", Load.zipfian(WRITE_INTENSIVE), 1.3);
    addYcsb(rows, "B", Load.zipfian(READ_INTENSIVE), 1.3);
    addYcsb(rows, "C", Load.zipfian(READ_ONLY), NOT_GIVEN);
    rows.addOver("C, ROLEX over the paper's best", 1, ROLEX, Load.zipfian(READ_ONLY), others);
    addYcsb(rows, "D", Load.zipfian(YCSB_D), 1.3);
    addYcsb(rows, "E", Load.zipfian(YCSB_E), NOT_GIVEN);
    addYcsb(rows, "F", Load.zipfian(YCSB_F), 1.3);
    addYcsb(rows, "insert-only", Load.zipfian(INSERT_ONLY).withWarmup(grown), 1.8);
    addYcsb(rows, "insert-intensive", Load.zipfian(INSERT_INTENSIVE).withWarmup(grown), 1.8);
  }

  private static void addYcsb(Rows rows, String name, Load load, double paper) {
    rows.add(name + ", ROLEX", MOPS, ROLEX, load);
    OTHERS.forEach(other -> addOver(rows, name, load, other, paper));
    for (int threads : List.of(2, 4)) {
      rows.addOverOther(
          "%s, ROLEX over %s, %s threads".formatted(name, EmtOptions.EMT_D.title(), threads),
          NOT_GIVEN,
          ROLEX,
          load,
          EmtOptions.EMT_D.defaults(),
          load.withProcessorThreads(threads));
    }
    addOver(rows, name, load, DeftOptions.DEFT, NOT_GIVEN);
    addOver(rows, name, load, DexOptions.DEX, NOT_GIVEN);
  }

  private static void addOver(Rows rows, String name, Load load, IndexSystem other, double paper) {
    rows.addOver(name + ", ROLEX over " + other.title(), paper, ROLEX, load, other.defaults());
  }

  /** Increasing numbers of cores at each compute server. */
  private static void cores(Rows rows) {
    for (IndexSystem system : IN_PAPER) {
      for (Workload workload : List.of(READ_ONLY, WRITE_INTENSIVE)) {
        for (int threads : List.of(1, 4, 12, 36)) {
          rows.add(
              workload + ", " + system.title(),
              MOPS.as("threads=" + threads),
              system.defaults(),
              Load.zipfian(workload).withThreads(threads));
        }
      }
    }
  }

  /**
   * Other sets of keys: the bytes that lookups read, and the memory of models, compared with that
   * of a B+-tree's inner nodes. The latter is computed for a tree with DEX's nodes of 1 KB: 60
   * entries of 16 bytes in each, of which a load fills the lab's share.
   */
  private static void keySets(Rows rows) {
    Lab lab = rows.lab();
    double inner = (double) innerBytes(lab.records(), lab.fill()) / lab.records();
    Measure cached = new Measure(CACHED.name(), result -> CACHED.of(result) / lab.computeServers());
    for (KeySet keys :
        List.of(KeySet.UNIFORM, KeySet.NORMAL, KeySet.LOGNORMAL, KeySet.IPV4, KeySet.CLUSTERED)) {
      Load reads = Load.zipfian(READ_ONLY).withKeys(keys);
      Load writes = Load.zipfian(WRITE_INTENSIVE).withKeys(keys);
      String name = keys.toString();
      rows.add(name, MOPS.as("read-only Mops"), ROLEX, reads);
      rows.add(name, MOPS.as("write-intensive Mops"), ROLEX, writes);
      rows.add(name, BYTES_READ.as("bytes READ a lookup"), ROLEX, reads);
      rows.add(name, cached, ROLEX, reads);
      rows.add(name, new Measure("inner nodes' B/record", _ -> inner), ROLEX, reads);
    }
  }

  /** Returns the bytes of all nodes of a B+-tree above the leaves. */
  static long innerBytes(long records, double fill) {
    long perNode = Math.round(NODE_ENTRIES * fill);
    long bytes = 0;
    long below = (records + perNode - 1) / perNode;
    while (below > 1) {
      below = (below + perNode - 1) / perNode;
      bytes += below * NODE_BYTES;
    }
    return bytes;
  }

  /** Inserts alone, 2 to 40 ms: a tenth of the time in which so many records are inserted. */
  private static void fromEmpty(Rows rows) {
    long millis = Math.clamp(rows.lab().records() / 100_000, 2, 40);
    Load inserts = Load.uniform(INSERT_ONLY).fromNothing().forMillis(millis);
    Measure records = new Measure("M records", result -> result.footprint().records() / 1e6);
    List<Measure> measures = List.of(MOPS, P99_MICROS, records, POOL, CACHED);
    Stream.concat(IN_PAPER.stream(), Stream.of(DeftOptions.DEFT))
        .forEach(system -> rows.addEach(system.title(), measures, system.defaults(), inserts));
  }
}
