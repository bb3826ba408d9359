package pando.bench.figure;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import pando.index.IndexSystem;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;

/**
 * ORCA beside DEX with increasing numbers of compute servers. All caches together keep their size,
 * so that each operation needs the pool as often as with few.
 */
final class OrcaScaling implements OrcaFigure {
  private static final List<Integer> SERVERS = List.of(1, 2, 4, 8, 16, 32, 64);
  private static final List<IndexSystem> SYSTEMS = List.of(OrcaOptions.ORCA, DexOptions.DEX);

  /** Share of the records that all compute servers cache together. */
  private static final double CACHE = 0.32;

  @Override
  public String name() {
    return "orca-scaling";
  }

  @Override
  public String title() {
    return "ORCA: compute servers of 36 clients each, 4 memory servers, 32 % cache in all, Zipf"
        + " 0.99";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofDex(records, seed);
    Map<String, Lab> labs = new LinkedHashMap<>();
    for (int number : SERVERS) {
      Lab sized = lab.withComputeServers(number).withCache(CACHE / number);
      labs.put(place(number), sized);
    }
    return Beside.sweep(labs, SYSTEMS, records);
  }

  private static String place(int computeServers) {
    return "compute servers=" + computeServers;
  }

  @Override
  public List<String> places() {
    return SERVERS.stream().map(OrcaScaling::place).toList();
  }

  @Override
  public List<Plot> plots(List<FigureLine> lines) {
    return BesidePlots.curves("compute servers", lines);
  }
}
