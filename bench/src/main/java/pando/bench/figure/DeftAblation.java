package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import pando.baselines.deft.DeftOptions;
import pando.baselines.deft.DeftValidation;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/**
 * DEFT's techniques, added one by one. The last, which is for inner nodes, is measured without a
 * cache.
 */
final class DeftAblation implements Figure {
  private static final Load A = new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN);
  private static final Load C = new Load(Workload.READ_ONLY, Distribution.ZIPFIAN);

  @Override
  public String name() {
    return "deft-ablation";
  }

  @Override
  public String title() {
    return "DEFT: its techniques, 2 memory and 10 compute servers, 300 clients, Zipf 0.99";
  }

  @Override
  public List<Reason> reasons() {
    return List.of(
        Reason.below(
            "A, \\+ versions on the path: x",
            "Versions give nothing before locks are shared: what counts there is how long a lock"
                + " that is taken by CAS is held, and a checksum adds 8 bytes to the same list and"
                + " no processor time to the model"),
        Reason.above(
            "A, \\+ shared locks: x",
            "Shared locks end the collapse of CAS locks on hot leaves, which versions alone leave"
                + " as it is"));
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDeft(records, seed);
    List<FigureLine> lines = new ArrayList<>();
    addSteps(lines, lab);
    addValidations(lines, lab);
    addSegments(lines, lab);
    return lines;
  }

  /** The techniques of leaves and locks, added one by one. */
  private static void addSteps(List<FigureLine> lines, Lab lab) {
    DeftOptions checked =
        DeftOptions.defaults()
            .withValidation(DeftValidation.CHECKSUM)
            .withSxLocks(false)
            .withHashLeaves(false);
    DeftOptions versioned = checked.withValidation(DeftValidation.OPDV);
    DeftOptions shared = versioned.withSxLocks(true);
    Results base = lab.run(checked, List.of(A));
    Results onPath = lab.run(versioned, List.of(A));
    Results locked = lab.run(shared, List.of(A));
    Results hashed = lab.run(shared.withHashLeaves(true), List.of(A));
    lines.add(
        new FigureLine(
            "A, checksums + CAS locks + sorted leaves", "Mops", NOT_GIVEN, base.megaOps(A)));
    lines.add(new FigureLine("A, + versions on the path", "x", 1.46, onPath.over(base, A)));
    lines.add(new FigureLine("A, + shared locks", "x", 2.5, locked.over(onPath, A)));
    lines.add(new FigureLine("A, + hash leaves", "x", 2.1, hashed.over(locked, A)));
  }

  /** DEFT itself, and with other ways to detect torn READs. */
  private static void addValidations(List<FigureLine> lines, Lab lab) {
    List<Load> both = List.of(A, C);
    Results deft = lab.run(DeftOptions.defaults(), both);
    Results versions =
        lab.run(DeftOptions.defaults().withValidation(DeftValidation.VERSIONS), both);
    Results checksums =
        lab.run(DeftOptions.defaults().withValidation(DeftValidation.CHECKSUM), both);
    addValidation(lines, "A", A, deft, versions, checksums);
    addValidation(lines, "C", C, deft, versions, checksums);
  }

  private static void addValidation(
      List<FigureLine> lines,
      String name,
      Load load,
      Results deft,
      Results versions,
      Results checksums) {
    lines.add(new FigureLine(name + ", DEFT", "Mops", NOT_GIVEN, deft.megaOps(load)));
    lines.add(
        new FigureLine(
            name + ", DEFT over two READs of versions", "x", NOT_GIVEN, deft.over(versions, load)));
    lines.add(
        new FigureLine(name + ", DEFT over checksums", "x", NOT_GIVEN, deft.over(checksums, load)));
  }

  /** Segments of inner nodes, without a cache, so that inner nodes are read by each operation. */
  private static void addSegments(List<FigureLine> lines, Lab lab) {
    DeftOptions uncached = DeftOptions.defaults().withCaching(false);
    Results whole = lab.run(uncached.withSegments(false), List.of(C));
    Results segments = lab.run(uncached, List.of(C));
    lines.add(new FigureLine("C without a cache", "Mops", NOT_GIVEN, whole.megaOps(C)));
    lines.add(new FigureLine("C without a cache, + segments", "x", 1.56, segments.over(whole, C)));
  }
}
