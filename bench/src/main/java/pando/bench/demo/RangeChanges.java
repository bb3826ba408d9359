package pando.bench.demo;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import pando.index.Session;

/**
 * Makes the same changes to an index and to an ordinary map, and checks that both return the same.
 */
final class RangeChanges {
  private final Session session;
  private final NavigableMap<Long, Long> ranges;
  private final Checks checks;
  private final Random random;
  private final List<String> countries;

  RangeChanges(Session session, NavigableMap<Long, Long> ranges, Checks checks, long seed) {
    this.session = session;
    this.ranges = ranges;
    this.checks = checks;
    random = new Random(seed);
    countries = ranges.values().stream().map(Location::country).distinct().toList();
  }

  /** Returns ranges chosen at random. */
  List<Map.Entry<Long, Long>> sample(int count) {
    List<Map.Entry<Long, Long>> shuffled = new ArrayList<>();
    ranges.forEach((first, location) -> shuffled.add(Map.entry(first, location)));
    Collections.shuffle(shuffled, random);
    return shuffled.subList(0, Math.min(count, shuffled.size()));
  }

  /** Gives ranges to other countries, and asks for them again. */
  void move(List<Map.Entry<Long, Long>> chosen) {
    for (Map.Entry<Long, Long> range : chosen) {
      long first = range.getKey();
      String country = countries.get(random.nextInt(countries.size()));
      long location = Location.withCountry(range.getValue(), country);
      check("update of ", first, session.update(first, location), range);
      ranges.put(first, location);
    }
    for (Map.Entry<Long, Long> range : chosen) {
      long first = range.getKey();
      check("get of ", first, session.get(first), ranges.ceilingEntry(first));
    }
  }

  /** Removes ranges, and looks up them and their neighbours. */
  void remove(List<Map.Entry<Long, Long>> chosen) {
    for (Map.Entry<Long, Long> range : chosen) {
      long first = range.getKey();
      check("remove of ", first, session.remove(first), range);
      ranges.remove(first);
    }
    for (Map.Entry<Long, Long> range : chosen) {
      long first = range.getKey();
      check("get of ", first, session.get(first), null);
      check("floor of ", first, session.floor(first), ranges.floorEntry(first));
      check("ceiling of ", first, session.ceiling(first), ranges.ceilingEntry(first));
    }
  }

  /** Stores removed ranges again, and asks for them. */
  void restore(List<Map.Entry<Long, Long>> removed) {
    for (Map.Entry<Long, Long> range : removed) {
      long first = range.getKey();
      check("put of ", first, session.put(first, range.getValue()), null);
      ranges.put(first, range.getValue());
    }
    for (Map.Entry<Long, Long> range : removed) {
      long first = range.getKey();
      check("get of ", first, session.get(first), range);
    }
  }

  private void check(
      String question, long first, boolean found, Map.@Nullable Entry<Long, Long> expected) {
    checks.check(question + Ipv4Address.format(first), Checks.answer(found, session), expected);
  }
}
