package pando.bench.figure;

import static pando.bench.figure.Measure.MOPS;
import static pando.bench.workload.Workload.READ_ONLY;
import static pando.bench.workload.Workload.WRITE_INTENSIVE;

import java.util.List;
import pando.baselines.sherman.ShermanOptions;
import pando.baselines.smart.SmartOptions;
import pando.index.IndexOptions;

/** The figures of SMART's paper that consist of rows. */
final class SmartFigures {
  private static final IndexOptions SMART = SmartOptions.smart();

  private SmartFigures() {}

  static List<Figure> all() {
    return List.of(
        Figure.ofRows(
                "smart-11",
                "SMART: YCSB, 14 + 2 servers, 504 clients, caches of 62.5 %, Zipf 0.99",
                Lab::ofSmart,
                SmartFigures::ycsb)
            .because(
                Reason.below(
                    "A, .*: x",
                    "Writers of the hottest key wait for the lock of its leaf, which one of 14"
                        + " compute servers has for two round trips"),
                Reason.above(
                    "C, .*: x",
                    "Sherman's READs of 1 KB fill the cards of two memory servers, and SMART's of"
                        + " 32 bytes do not")));
  }

  /** The abstract has the numbers. */
  private static void ycsb(Rows rows) {
    add(rows, "A", Load.zipfian(WRITE_INTENSIVE), 6.1);
    add(rows, "C", Load.zipfian(READ_ONLY), 2.8);
  }

  private static void add(Rows rows, String name, Load load, double paper) {
    rows.add(name + ", SMART", MOPS, SMART, load);
    rows.addOver(name + ", SMART over Sherman", paper, SMART, load, ShermanOptions.sherman());
  }
}
