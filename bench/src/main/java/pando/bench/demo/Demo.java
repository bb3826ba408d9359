package pando.bench.demo;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import pando.cli.WrongResultException;
import pando.cli.text.Numbers;
import pando.cli.text.TextTable;
import pando.client.ClientBatch;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.fabric.VerbCounters;
import pando.index.Session;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;

/**
 * Loads address ranges into a cluster inside this process, asks for them and changes them in every
 * way there is, and checks each answer against a {@link TreeMap}.
 */
public final class Demo {
  private static final double CACHED_SHARE = 0.08;

  /**
   * Least cache of each compute server, in bytes: what DEX needs. For an extract of the ranges, 8 %
   * is less.
   */
  private static final int CACHE_BYTES_MIN = DexOptions.FRAMES_MIN * 1024;

  private static final int LOOKUPS = 1_000_000;
  private static final int WARMUP_PART = 4;
  private static final int SYSTEMS_PART = 2;
  private static final int CLIENT_PART = 10;
  private static final int BATCH = 1_024;
  private static final int MOVES = 20_000;
  private static final int REMOVALS = 5_000;
  private static final long SEED = 1;

  private static final String BLOCK = "16.214.0.0/16";
  private static final long BLOCK_FIRST = Ipv4Address.parse("16.214.0.0");
  private static final long BLOCK_LAST = Ipv4Address.parse("16.214.255.255");

  private final NavigableMap<Long, Long> ranges;
  private final int lookupCount;
  private final PrintWriter out;
  private final Checks checks = new Checks();

  /**
   * Prepares the demo.
   *
   * @param ranges {@link Location}s by first address; changed like the index
   * @param out receives the output
   */
  public Demo(NavigableMap<Long, Long> ranges, PrintWriter out) {
    this(ranges, LOOKUPS, out);
  }

  Demo(NavigableMap<Long, Long> ranges, int lookupCount, PrintWriter out) {
    this.ranges = ranges;
    this.lookupCount = lookupCount;
    this.out = out;
  }

  /**
   * Loads the ranges and looks up one address.
   *
   * @throws WrongResultException if the answer was wrong
   */
  public void locate(long address) {
    try (DemoCluster cluster = DemoCluster.load(withoutImages(), ranges)) {
      Session session = cluster.session();
      VerbCounters before = cluster.index().verbs().copy();
      Map.Entry<Long, Long> range = Checks.answer(session.floor(address), session);
      VerbCounters verbs = cluster.index().verbs().copy();
      verbs.subtract(before);
      checks.check("floor of " + address, range, ranges.floorEntry(address));
      String place =
          range != null && address <= Location.last(range.getValue())
              ? "in " + Location.describe(range.getKey(), range.getValue())
              : "in no known range";
      out.printf("%s is %s.%n", Ipv4Address.format(address), place);
      out.printf(
          "Found among %s ranges with %d READ%s of %s in all, the caches being cold.%n",
          Numbers.count(ranges.size()),
          verbs.reads,
          verbs.reads == 1 ? "" : "s",
          Numbers.bytes(verbs.bytesIn));
    }
  }

  /**
   * Goes through all steps.
   *
   * @throws WrongResultException if an answer was wrong
   */
  public void run() {
    out.println("Pando demo: which country is an IPv4 address in?");
    out.println();
    long cacheBytes;
    try (DemoCluster uncached = DemoCluster.load(withoutImages(), ranges);
        DemoCluster cluster = DemoCluster.load(withImages(uncached.index().poolBytes()), ranges)) {
      introduce(cluster);
      Cost first = new Lookups(ranges, 1, SEED).run(cluster);
      Lookups warmup = new Lookups(ranges, lookupCount / WARMUP_PART, SEED + 1);
      warmup.run(cluster);
      warmup.run(uncached);
      Lookups lookups = new Lookups(ranges, lookupCount, SEED);
      String asked = Numbers.count(lookupCount) + " addresses";
      Cost cost = lookUp(asked, lookups, cluster);
      Cost uncachedCost = lookUp(asked + ", caching no segments", lookups, uncached);
      change(cluster.session());
      scan(cluster.session());
      compare(cost, uncachedCost, first);
      cacheBytes = cluster.cacheBytes() / DemoCluster.COMPUTE_SERVERS;
    }
    compareSystems(cacheBytes);
    out.printf("%nDone: all %s checks passed.%n", Numbers.count(checks.passed()));
  }

  /**
   * Stores the ranges by a client of a cluster, which has nothing yet, and goes through the steps
   * of one session.
   *
   * @throws WrongResultException if an answer was wrong
   */
  public void run(PandoClient client) {
    try (ClientSession session = client.session()) {
      long start = System.nanoTime();
      store(client.batch());
      out.printf(
          "A client has stored %s address ranges in %s s. Every answer is compared with that of an"
              + " ordinary map.%n%n",
          Numbers.count(ranges.size()), Numbers.decimal((System.nanoTime() - start) / 1e9, 1));
      Lookups lookups = new Lookups(ranges, lookupCount / CLIENT_PART, SEED);
      lookups.lookUp(session);
      step(
          "look up",
          Numbers.count(lookupCount / CLIENT_PART) + " addresses",
          () -> lookups.check(ranges, checks));
      change(session);
      scan(session);
    }
    out.printf("Done: all %s checks passed.%n", Numbers.count(checks.passed()));
  }

  private void store(ClientBatch batch) {
    for (Map.Entry<Long, Long> range : ranges.entrySet()) {
      batch.store(range.getKey(), range.getValue());
      if (batch.size() == BATCH) {
        batch.runAndClear();
      }
    }
    batch.runAndClear();
  }

  /** The caches have records and deltas alone, which are for other operations. */
  private static OrcaOptions withoutImages() {
    return OrcaOptions.defaults().withSharesMove(false).withCacheBytes(1 << 20);
  }

  /** Lookups here ask for the greatest key below an address: images serve that, not records. */
  private static OrcaOptions withImages(long poolBytes) {
    long bytes = Math.round(poolBytes * CACHED_SHARE / DemoCluster.COMPUTE_SERVERS);
    return OrcaOptions.defaults()
        .with("image-share", "0.8")
        .withCacheBytes(Math.max(bytes, CACHE_BYTES_MIN));
  }

  private void introduce(DemoCluster cluster) {
    long poolBytes = cluster.index().poolBytes();
    out.printf(
        "%d memory servers hold the index, %d compute servers search it; all are in this"
            + " process.%n",
        DemoCluster.MEMORY_SERVERS, DemoCluster.COMPUTE_SERVERS);
    out.printf(
        "Its %s address ranges take %s. The caches take %s of that.%n",
        Numbers.count(ranges.size()),
        Numbers.bytes(poolBytes),
        Numbers.percent((double) cluster.cacheBytes() / poolBytes));
    out.printf("Every answer is compared with that of an ordinary map.%n");
    out.printf("(Data: IPFire location database, location.ipfire.org, CC BY-SA 4.0.)%n%n");
  }

  private Cost lookUp(String what, Lookups lookups, DemoCluster cluster) {
    Cost cost = lookups.run(cluster);
    step("look up", what, () -> lookups.check(ranges, checks));
    return cost;
  }

  private void change(Session session) {
    RangeChanges changes = new RangeChanges(session, ranges, checks, SEED);
    List<Map.Entry<Long, Long>> moved = changes.sample(MOVES);
    step(
        "move",
        Numbers.count(moved.size()) + " ranges to other countries",
        () -> changes.move(moved));
    List<Map.Entry<Long, Long>> removed = changes.sample(REMOVALS);
    step("delete", Numbers.count(removed.size()) + " ranges", () -> changes.remove(removed));
    step("restore", "the same " + Numbers.count(removed.size()), () -> changes.restore(removed));
  }

  private void scan(Session session) {
    step("scan", "all ranges", () -> scan(session, 0, Ipv4Address.MAX));
    List<Map.Entry<Long, Long>> block = new ArrayList<>();
    step("scan", "the block " + BLOCK, () -> block.addAll(scan(session, BLOCK_FIRST, BLOCK_LAST)));
    TextTable table = new TextTable(3, List.of("first", "last", "country"));
    for (Map.Entry<Long, Long> range : block) {
      table.add(
          List.of(
              Ipv4Address.format(range.getKey()),
              Ipv4Address.format(Location.last(range.getValue())),
              Location.country(range.getValue())));
    }
    out.printf("%n%s%n", table);
  }

  private List<Map.Entry<Long, Long>> scan(Session session, long from, long to) {
    List<Map.Entry<Long, Long>> found = new ArrayList<>();
    session.scan(
        from, to, Long.MAX_VALUE, (first, location) -> found.add(Map.entry(first, location)));
    Iterator<Map.Entry<Long, Long>> answers = found.iterator();
    for (Map.Entry<Long, Long> expected : ranges.subMap(from, true, to, true).entrySet()) {
      checks.check("next in a scan", answers.hasNext() ? answers.next() : null, expected);
    }
    checks.check("end of a scan", answers.hasNext() ? answers.next() : null, null);
    return found;
  }

  private void compare(Cost cached, Cost uncached, Cost first) {
    TextTable table =
        new TextTable(
            1, List.of("a lookup costs", "READs", "trips", "bytes", "cache hits", "lookups/s"));
    table.add(row("with these caches", cached));
    table.add(row("caching no segments", uncached));
    table.add(row("first of all, cold", first));
    out.print(table);
    out.println("A READ is a copy within this process here; over a network each trip waits.");
  }

  private static List<String> row(String name, Cost cost) {
    return List.of(
        name,
        Numbers.decimal(cost.perOperation(cost.verbs().reads), 3),
        Numbers.decimal(cost.perOperation(cost.verbs().roundTrips), 3),
        Numbers.decimal(cost.perOperation(cost.verbs().bytes()), 1),
        Numbers.percent(cost.cacheHitRatio()),
        cost.operations() == 1 ? "-" : Numbers.count(Math.round(cost.perSecond())));
  }

  /** Compares DEX with ORCA, the same ranges and the same caches. */
  private void compareSystems(long cacheBytes) {
    SideBySide work = new SideBySide(ranges, lookupCount / SYSTEMS_PART, SEED, checks);
    TextTable table =
        new TextTable(
            1, List.of("with equal caches", "READs", "WRITEs", "trips", "bytes", "operations/s"));
    SideBySide.Costs dex = work.run(DexOptions.defaults().withCacheBytes(cacheBytes));
    SideBySide.Costs orca = work.run(OrcaOptions.defaults().withCacheBytes(cacheBytes));
    table.add(systemRow("a lookup, DEX", dex.lookups()));
    table.add(systemRow("a lookup, ORCA", orca.lookups()));
    table.add(systemRow("an update, DEX", dex.updates()));
    table.add(systemRow("an update, ORCA", orca.updates()));
    out.printf("%n%s", table);
    out.println("ORCA caches single ranges in place of nodes of about 40.");
  }

  private static List<String> systemRow(String name, Cost cost) {
    return List.of(
        name,
        Numbers.decimal(cost.perOperation(cost.verbs().reads), 3),
        Numbers.decimal(cost.perOperation(cost.verbs().writes), 3),
        Numbers.decimal(cost.perOperation(cost.verbs().roundTrips), 3),
        Numbers.decimal(cost.perOperation(cost.verbs().bytes()), 1),
        Numbers.count(Math.round(cost.perSecond())));
  }

  private void step(String verb, String what, Runnable action) {
    long before = checks.passed();
    action.run();
    long passed = checks.passed() - before;
    out.printf("  %-8s  %-40s %10s right%n", verb, what, Numbers.count(passed));
  }
}
