package pando.bench.figure;

import java.util.List;
import pando.index.IndexOptions;
import pando.index.deft.DeftOptions;
import pando.index.dex.DexOptions;
import pando.index.rolex.RolexOptions;
import pando.index.sherman.ShermanOptions;

/**
 * A system that stands beside others in figures of ROLEX and of all.
 *
 * @param label its name in tables
 * @param isInRolexPaper whether ROLEX's paper compares ROLEX with it
 */
record Contender(String label, IndexOptions options, boolean isInRolexPaper) {
  static final Contender DEX = new Contender("DEX", DexOptions.defaults(), false);
  static final Contender DEFT = new Contender("DEFT", DeftOptions.defaults(), false);
  static final Contender ROLEX = new Contender("ROLEX", RolexOptions.defaults(), false);

  /** All that there are. */
  static final List<Contender> ALL =
      List.of(
          DEX,
          new Contender("Sherman", ShermanOptions.sherman(), true),
          new Contender("FG+", ShermanOptions.fg(), true),
          new Contender("P-Sherman", ShermanOptions.partitionedSherman(), false),
          DEFT,
          new Contender("XStore-D", RolexOptions.xstoreD(), true),
          ROLEX);

  /** Returns those that ROLEX's paper compares it with. */
  static List<Contender> ofRolexPaper() {
    return ALL.stream().filter(Contender::isInRolexPaper).toList();
  }
}
