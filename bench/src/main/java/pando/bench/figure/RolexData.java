package pando.bench.figure;

import static pando.bench.figure.FigureLine.NOT_GIVEN;

import java.util.ArrayList;
import java.util.List;
import pando.baselines.rolex.RolexOptions;
import pando.bench.keys.KeySet;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;

/**
 * ROLEX with other sets of keys: the bytes that lookups read, and the memory of models, compared
 * with that of a B+-tree's inner nodes.
 *
 * <p>The latter is computed for a tree with DEX's nodes of 1 KB: 60 entries of 16 bytes in each, of
 * which a load fills the lab's share.
 */
final class RolexData implements Figure {
  private static final Load READ_ONLY = new Load(Workload.READ_ONLY, Distribution.ZIPFIAN);
  private static final Load WRITE_INTENSIVE =
      new Load(Workload.WRITE_INTENSIVE, Distribution.ZIPFIAN);
  private static final List<KeySet> KEYS =
      List.of(KeySet.UNIFORM, KeySet.NORMAL, KeySet.LOGNORMAL, KeySet.IPV4, KeySet.CLUSTERED);

  private static final int NODE_BYTES = 1 << 10;
  private static final int NODE_ENTRIES = 60;

  @Override
  public String name() {
    return "rolex-data";
  }

  @Override
  public String title() {
    return "ROLEX: sets of keys, 3 + 3 servers, 108 clients, Zipf 0.99; memory of one compute"
        + " server, and of a B+-tree's inner nodes";
  }

  @Override
  public List<FigureLine> run(long records, long seed) {
    Lab lab = Lab.ofRolex(records, seed);
    List<Load> loads = new ArrayList<>();
    for (KeySet keys : KEYS) {
      loads.add(READ_ONLY.withKeys(keys));
      loads.add(WRITE_INTENSIVE.withKeys(keys));
    }
    Results rolex = lab.run(RolexOptions.rolex(), loads);
    double inner = (double) innerBytes(records, lab.fill()) / records;
    List<FigureLine> lines = new ArrayList<>();
    for (KeySet keys : KEYS) {
      Load reads = READ_ONLY.withKeys(keys);
      Load writes = WRITE_INTENSIVE.withKeys(keys);
      double cached = rolex.footprint(reads).cachedBytesPerRecord() / lab.computeServers();
      add(lines, keys, "read-only Mops", rolex.megaOps(reads));
      add(lines, keys, "write-intensive Mops", rolex.megaOps(writes));
      add(lines, keys, "bytes READ a lookup", rolex.bytesIn(reads));
      add(lines, keys, "cached B/record", cached);
      add(lines, keys, "inner nodes' B/record", inner);
    }
    return lines;
  }

  private static void add(List<FigureLine> lines, KeySet keys, String measure, double ours) {
    lines.add(new FigureLine(keys.toString(), measure, NOT_GIVEN, ours));
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
}
