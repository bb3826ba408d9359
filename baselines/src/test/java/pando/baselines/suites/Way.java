package pando.baselines.suites;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import pando.index.Act;
import pando.index.Configuration;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.orca.OrcaOptions;

/**
 * An operation behind those that go before it: a tree in which it does what it is chosen for, such
 * as to split a leaf.
 *
 * @param nodes that the pool has more of after it
 * @param posted how many verbs it posts each time; a CALL counts none
 */
record Way(List<Act> before, Act act, long nodes, List<Integer> posted) {
  private static final long STEP = 100;
  private static final int ENTRIES = 36;
  private static final int ACTS = 300;
  private static final double FILL = 0.9;

  /** Whether all ways that differ in their verbs count, or one for each effect on the tree. */
  private static final boolean EVERY = Seeds.count(0, 0, 1) > 0;

  /** Opens a pool for one. */
  static HookedFabric open() {
    return new HookedFabric(Pools.open(2, 2 << 20, 981)).withTasksByHand();
  }

  /** Returns operations that differ in what they do to the tree, those with the most verbs. */
  static List<Way> all(Configuration configuration) {
    List<Act> acts =
        Act.nearby(
            new SplittableRandom(982),
            kinds(configuration),
            Entries.spaced(ENTRIES, STEP),
            ENTRIES / 2 * STEP,
            (int) STEP,
            ACTS);
    Map<String, Way> ways = new LinkedHashMap<>();
    try (HookedFabric fabric = open();
        RangeIndex index = configuration.create(fabric);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(Entries.spaced(ENTRIES, STEP)), FILL);
      for (int i = 0; i < ACTS; i++) {
        List<Integer> posted = new ArrayList<>();
        long bytes = index.poolBytes();
        fabric.hookEach(
            verbs -> true,
            posting -> {
              posted.add(posting.verbs().size());
              posting.post();
            });
        acts.get(i).run(session);
        fabric.unhook();
        long nodes = (index.poolBytes() - bytes) / configuration.nodeBytes();
        Way way = new Way(acts.subList(0, i), acts.get(i), nodes, posted);
        ways.merge(way.effect(), way, Way::longer);
      }
    }
    return List.copyOf(ways.values());
  }

  /** Returns the kinds of operations that differ in their verbs. */
  private static List<Act.Kind> kinds(Configuration configuration) {
    return configuration.options() instanceof OrcaOptions
        ? List.of(Act.Kind.values())
        : Act.ANSWERED;
  }

  private String effect() {
    return act.kind() + " " + (EVERY ? posted : nodes);
  }

  private static Way longer(Way one, Way other) {
    return Comparator.comparingInt(Way::verbs).compare(one, other) >= 0 ? one : other;
  }

  private int verbs() {
    return posted.stream().mapToInt(Integer::intValue).sum();
  }

  /** Loads an index, and does what goes before the operation, to a map as well. */
  void prepare(RangeIndex index, Session session, NavigableMap<Long, Long> model) {
    model.putAll(Entries.spaced(ENTRIES, STEP));
    index.bulkLoad(Entries.of(model), FILL);
    for (Act each : before) {
      each.run(session);
      each.run(model);
    }
  }
}
