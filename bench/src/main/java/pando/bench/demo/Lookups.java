package pando.bench.demo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SplittableRandom;
import pando.bench.workload.Distribution;
import pando.index.Session;

/**
 * Addresses to look up, and what was found. As in real traffic a few networks, of 65,536 addresses
 * each, are asked for most of the time; some addresses are in no range.
 */
final class Lookups {
  private static final double THETA = 0.99;
  private static final int HOST_BITS = 16;

  /** The same networks are in demand whatever addresses are drawn. */
  private static final long NETWORK_SEED = 1;

  private final long[] addresses;
  private final boolean[] found;
  private final long[] firsts;
  private final long[] locations;

  Lookups(NavigableMap<Long, Long> ranges, int count, long seed) {
    addresses = draw(ranges, count, seed);
    found = new boolean[count];
    firsts = new long[count];
    locations = new long[count];
  }

  /** Looks all addresses up, one after the other. */
  Cost run(DemoCluster cluster) {
    return Cost.of(addresses.length, cluster, () -> lookUp(cluster.session()));
  }

  /** Compares every answer with that of an ordinary map. */
  void check(NavigableMap<Long, Long> ranges, Checks checks) {
    for (int i = 0; i < addresses.length; i++) {
      Map.Entry<Long, Long> answer = found[i] ? Map.entry(firsts[i], locations[i]) : null;
      checks.check("floor of " + addresses[i], answer, ranges.floorEntry(addresses[i]));
    }
  }

  /** Looks all addresses up by a session. */
  void lookUp(Session session) {
    for (int i = 0; i < addresses.length; i++) {
      found[i] = session.floor(addresses[i]);
      firsts[i] = session.key();
      locations[i] = session.value();
    }
  }

  private static long[] draw(NavigableMap<Long, Long> ranges, int count, long seed) {
    List<Long> networks =
        new ArrayList<>(
            ranges.keySet().stream().map(first -> first >>> HOST_BITS).distinct().toList());
    Collections.shuffle(networks, new Random(NETWORK_SEED));
    SplittableRandom random = new SplittableRandom(seed);
    Distribution.Draw ranks = Distribution.ZIPFIAN.over(networks.size(), THETA);
    long[] addresses = new long[count];
    for (int i = 0; i < count; i++) {
      long network = networks.get((int) ranks.next(random));
      addresses[i] = network << HOST_BITS | random.nextLong(1L << HOST_BITS);
    }
    return addresses;
  }
}
