package pando.bench.demo;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SplittableRandom;
import pando.bench.workload.Distribution;
import pando.index.IndexOptions;
import pando.index.Session;

/**
 * The same lookups and updates of ranges in several systems, each answer checked. A few ranges,
 * anywhere among the others, are asked for most of the time.
 */
final class SideBySide {
  private static final double THETA = 0.99;

  private final NavigableMap<Long, Long> ranges;
  private final long[] firsts;
  private final int count;
  private final long seed;
  private final Checks checks;

  /**
   * Prepares them.
   *
   * @param ranges to load; not changed
   * @param count lookups, and as many updates
   */
  SideBySide(NavigableMap<Long, Long> ranges, int count, long seed, Checks checks) {
    this.ranges = ranges;
    this.count = count;
    this.seed = seed;
    this.checks = checks;
    firsts = ranges.keySet().stream().mapToLong(Long::longValue).toArray();
    shuffle(firsts, new Random(seed));
  }

  /** What lookups and updates took in one system. */
  record Costs(Cost lookups, Cost updates) {}

  /** Loads the ranges into an index, looks ranges up, and moves some to other countries. */
  Costs run(IndexOptions options) {
    long[] locations = Arrays.stream(firsts).map(ranges::get).toArray();
    try (DemoCluster cluster = DemoCluster.load(options, ranges)) {
      lookUp(cluster, locations, seed);
      Cost lookups = lookUp(cluster, locations, seed + 1);
      Cost updates = update(cluster, locations, seed + 2);
      lookUp(cluster, locations, seed + 2);
      return new Costs(lookups, updates);
    }
  }

  private Cost lookUp(DemoCluster cluster, long[] locations, long draws) {
    int[] asked = draw(draws);
    long[] expected = Arrays.stream(asked).mapToLong(number -> locations[number]).toArray();
    return ask(cluster, "get of ", asked, expected, (session, i) -> session.get(firsts[asked[i]]));
  }

  /** Updates ranges, in the index and in the array of their locations. */
  private Cost update(DemoCluster cluster, long[] locations, long draws) {
    int[] asked = draw(draws);
    long[] moved = moves(asked, locations);
    long[] expected = new long[count];
    for (int i = 0; i < count; i++) {
      // A range that is asked for again has moved.
      expected[i] = locations[asked[i]];
      locations[asked[i]] = moved[i];
    }
    return ask(
        cluster,
        "update of ",
        asked,
        expected,
        (session, i) -> session.update(firsts[asked[i]], moved[i]));
  }

  /** Asks for the i-th of the ranges that were drawn; returns whether it was found. */
  private interface Question {
    boolean ask(Session session, int i);
  }

  /** Asks, and checks the answers when the clock has stopped. */
  private Cost ask(
      DemoCluster cluster, String name, int[] asked, long[] expected, Question question) {
    boolean[] found = new boolean[count];
    long[] locations = new long[count];
    Session session = cluster.session();
    Cost cost =
        Cost.of(
            count,
            cluster,
            () -> {
              for (int i = 0; i < count; i++) {
                found[i] = question.ask(session, i);
                locations[i] = session.value();
              }
            });
    for (int i = 0; i < count; i++) {
      long first = firsts[asked[i]];
      checks.check(
          name + Ipv4Address.format(first),
          found[i] ? Map.entry(first, locations[i]) : null,
          Map.entry(first, expected[i]));
    }
    return cost;
  }

  /** Returns a new location for each range that is asked for, in another country. */
  private long[] moves(int[] asked, long[] locations) {
    List<String> countries = ranges.values().stream().map(Location::country).distinct().toList();
    return Arrays.stream(asked)
        .mapToLong(number ->
            Location.withCountry(locations[number], countries.get(number % countries.size())))
        .toArray();
  }

  private int[] draw(long draws) {
    SplittableRandom random = new SplittableRandom(draws);
    Distribution.Draw ranks = Distribution.ZIPFIAN.over(firsts.length, THETA);
    int[] asked = new int[count];
    Arrays.setAll(asked, _ -> (int) ranks.next(random));
    return asked;
  }

  private static void shuffle(long[] keys, Random random) {
    for (int i = keys.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      long key = keys[i];
      keys[i] = keys[other];
      keys[other] = key;
    }
  }
}
