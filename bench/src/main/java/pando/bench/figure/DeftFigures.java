package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;
import static pando.bench.figure.Measure.BYTES;
import static pando.bench.figure.Measure.MOPS;
import static pando.bench.figure.Measure.TRIPS;

import java.util.List;
import java.util.stream.Stream;
import pando.baselines.deft.DeftOptions;
import pando.baselines.deft.DeftValidation;
import pando.baselines.sherman.ShermanOptions;
import pando.baselines.sherman.ShermanValidation;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;

/** The figures of DEFT's paper, and DEFT beside DEX. */
final class DeftFigures {
  private static final DeftOptions DEFT = DeftOptions.defaults();

  private static final Load A = Load.zipfian(Workload.WRITE_INTENSIVE);
  private static final Load B = Load.zipfian(Workload.READ_INTENSIVE);
  private static final Load C = Load.zipfian(Workload.READ_ONLY);
  private static final Load E = Load.zipfian(Workload.YCSB_E);

  private DeftFigures() {}

  static List<Figure> all() {
    return List.of(
        Figure.ofRows(
                "deft-ycsb",
                "DEFT: YCSB, 2 memory and 10 compute servers, 300 clients, Zipf 0.99",
                Lab::ofDeft,
                DeftFigures::ycsb)
            .because(
                Reason.below(
                    "A, DEFT over Sherman with checksums: x",
                    "Summing up a node takes no processor time: Sherman with checksums only WRITEs"
                        + " 8 bytes more here, which is why it is hardly behind Sherman")),
        Figure.ofRows(
                "deft-ablation",
                "DEFT: its techniques, 2 memory and 10 compute servers, 300 clients, Zipf 0.99",
                Lab::ofDeft,
                DeftFigures::techniques)
            .because(
                Reason.below(
                    "A, \\+ versions on the path: x",
                    "Versions give nothing before locks are shared: what counts there is how long a"
                        + " lock that is taken by CAS is held, and a checksum adds 8 bytes to the"
                        + " same list and no processor time to the model"),
                Reason.above(
                    "A, \\+ shared locks: x",
                    "Shared locks end the collapse of CAS locks on hot leaves, which versions alone"
                        + " leave as it is")),
        Figure.ofRows(
            "deft-dex",
            "DEFT, DEX and P-Sherman: 4 + 4 servers, 144 clients, 8 % cache",
            Lab::ofDex,
            DeftFigures::besideDex));
  }

  /** DEFT beside Sherman, with and without the checksums that make the latter correct. */
  private static void ycsb(Rows rows) {
    ShermanOptions sherman = ShermanOptions.sherman();
    ShermanOptions checked = sherman.withValidation(ShermanValidation.CHECKSUM);
    rows.add("A, DEFT", MOPS, 42.7, DEFT, A);
    rows.addOver("A, DEFT over Sherman", 6.1, DEFT, A, sherman);
    rows.addOver("A, DEFT over Sherman with checksums", 9.5, DEFT, A, checked);
    rows.add("B, DEFT", MOPS, DEFT, B);
    rows.addOver("B, DEFT over Sherman", NOT_GIVEN, DEFT, B, sherman);
    rows.add("C, DEFT", MOPS, 91.0, DEFT, C);
    rows.addOver("C, DEFT over Sherman", 3.7, DEFT, C, sherman);
    rows.add("E, DEFT", MOPS, DEFT, E);
    rows.addOver("E, DEFT over Sherman", 1.0, DEFT, E, sherman);
  }

  /** Techniques added one by one; those of inner nodes without a cache, so that they are read. */
  private static void techniques(Rows rows) {
    DeftOptions checksums = DEFT.withValidation(DeftValidation.CHECKSUM);
    DeftOptions plain = checksums.withSxLocks(false).withHashLeaves(false);
    DeftOptions onPath = plain.withValidation(DeftValidation.OPDV);
    DeftOptions shared = onPath.withSxLocks(true);
    rows.add("A, checksums + CAS locks + sorted leaves", MOPS, plain, A);
    rows.addOver("A, + versions on the path", 1.46, onPath, A, plain);
    rows.addOver("A, + shared locks", 2.5, shared, A, onPath);
    rows.addOver("A, + hash leaves", 2.1, shared.withHashLeaves(true), A, shared);

    DeftOptions versions = DEFT.withValidation(DeftValidation.VERSIONS);
    addValidations(rows, "A", A, versions, checksums);
    addValidations(rows, "C", C, versions, checksums);

    DeftOptions uncached = DEFT.withCaching(false);
    DeftOptions whole = uncached.withSegments(false);
    rows.add("C without a cache", MOPS, whole, C);
    rows.addOver("C without a cache, + segments", 1.56, uncached, C, whole);
  }

  /** DEFT beside other ways to detect torn READs. */
  private static void addValidations(
      Rows rows, String name, Load load, DeftOptions versions, DeftOptions checksums) {
    rows.add(name + ", DEFT", MOPS, DEFT, load);
    rows.addOver(name + ", DEFT over two READs of versions", NOT_GIVEN, DEFT, load, versions);
    rows.addOver(name + ", DEFT over checksums", NOT_GIVEN, DEFT, load, checksums);
  }

  /** What no paper compares, on the testbed of DEX's paper, with equal caches. */
  private static void besideDex(Rows rows) {
    Measure verbs =
        Measure.perOperation("verbs", count -> count.reads + count.writes + count.atomics);
    for (Distribution distribution : List.of(Distribution.ZIPFIAN, Distribution.UNIFORM)) {
      Stream.of(
              Workload.READ_ONLY,
              Workload.READ_INTENSIVE,
              Workload.WRITE_INTENSIVE,
              Workload.INSERT_INTENSIVE,
              Workload.SCAN_INTENSIVE)
          .map(workload -> new Load(workload, distribution))
          .forEach(load -> {
            for (IndexSystem system :
                List.of(DeftOptions.DEFT, DexOptions.DEX, ShermanOptions.P_SHERMAN)) {
              rows.addEach(
                  load.name() + ", " + system.title(),
                  List.of(MOPS, verbs, TRIPS, BYTES),
                  system.defaults(),
                  load);
            }
          });
    }
  }
}
