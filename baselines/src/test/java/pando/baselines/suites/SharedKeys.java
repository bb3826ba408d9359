package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Function;
import pando.fabric.Fabric;
import pando.index.Entries;
import pando.index.IndexProcess;
import pando.index.NotServedHereException;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/**
 * An index with compute servers in this process and in another one, and a model of it. Each key is
 * written in the process that serves it, and read in both.
 */
final class SharedKeys implements AutoCloseable {
  /** Keys that are written, and then read in both processes, in one round. */
  private static final int BATCH = 100;

  private static final int RECORDS = Seeds.count(200, 400, 2_000);

  private static final String NOT_SERVED = NotServedHereException.class.getSimpleName();
  private static final String ABSENT = "absent";

  private final SystemUnderTest system;
  private final int number;
  private final int rounds;
  private final SplittableRandom random;
  private final NavigableMap<Long, Long> model;
  private final NavigableMap<Long, Long> loaded;
  private final Fabric fabric;
  private final RangeIndex index;
  private final Session session;

  /** What the other process has stored: it may have had that alone when it was killed. */
  private final Map<Long, Set<String>> storedThere = new HashMap<>();

  private int operations;
  private int lost;

  /**
   * Creates the index, and loads it.
   *
   * @param number of the index among those of the other process
   * @param computeServers how many of them this process has, from 0 on
   * @param fabric that this closes
   * @param rounds of writing and reading
   */
  SharedKeys(
      SystemUnderTest system,
      int number,
      Fabric fabric,
      int computeServers,
      int rounds,
      long seed) {
    this.system = system;
    this.number = number;
    this.rounds = rounds;
    this.random = new SplittableRandom(seed + number);
    this.model = Entries.random(random, RECORDS);
    this.loaded = new TreeMap<>(model);
    this.fabric = fabric;
    this.index = IndexProcess.configuration(system).create(fabric, 0, computeServers);
    index.bulkLoad(Entries.of(model), 0.7);
    this.session = index.session();
  }

  @Override
  public void close() {
    try (fabric;
        index) {
      session.close();
    }
  }

  /** Returns how many answers were checked, and how many values the killed process had alone. */
  @Override
  public String toString() {
    return system + ": operations=" + operations + ", lostWithTheProcess=" + lost;
  }

  /**
   * Writes keys, and reads them.
   *
   * @param beforeKill whether the other process is killed next
   */
  void share(IndexProcess other, boolean beforeKill) throws IOException {
    other.use(number);
    // A split that DEX has in the killed process's cache alone is lost by halves.
    boolean withNewKeys = !beforeKill || !system.systemName().equals("dex");
    for (int round = 0; round < rounds; round++) {
      Map<Long, Long> values = new LinkedHashMap<>();
      for (int i = 0; i < BATCH; i++) {
        long any = random.nextLong();
        boolean isNew = withNewKeys && i % 2 == 0;
        long key =
            isNew ? any : Objects.requireNonNullElse(model.ceilingKey(any), model.firstKey());
        values.put(key, random.nextLong());
      }
      boolean isFirst = round % 2 == 0;
      Map<Long, Long> refused = put(other, isFirst, values);
      assertThat(put(other, !isFirst, refused)).isEmpty();
      model.putAll(values);
      check(other, values.keySet(), key -> Set.of("value " + values.get(key)));
    }
  }

  /** Stores values in this process or in the other; returns those that it does not serve. */
  private Map<Long, Long> put(IndexProcess other, boolean isHere, Map<Long, Long> values)
      throws IOException {
    List<String> responses = new ArrayList<>();
    if (isHere) {
      values.forEach(
          (key, value) -> responses.add(IndexProcess.answer(session, "put", key, value)));
    } else {
      List<String> requests = new ArrayList<>();
      values.forEach((key, value) -> requests.add("put " + key + " " + value));
      responses.addAll(other.askAll(requests));
    }
    Map<Long, Long> refused = new LinkedHashMap<>();
    Iterator<String> response = responses.iterator();
    values.forEach((key, value) -> {
      String text = response.next();
      if (text.equals(NOT_SERVED)) {
        refused.put(key, value);
        return;
      }
      assertThat(text).as("key=%d", key).isEqualTo(model.containsKey(key) ? "replaced" : "stored");
      if (!isHere) {
        storedThere.computeIfAbsent(key, _ -> new HashSet<>()).add("value " + value);
      }
    });
    operations += values.size() - refused.size();
    return refused;
  }

  /** Reads keys in both processes, of which one at least serves each; returns what they have. */
  private List<String> check(
      IndexProcess other, Collection<Long> keys, Function<Long, Set<String>> expected)
      throws IOException {
    List<String> found = new ArrayList<>();
    Iterator<String> there =
        other.askAll(keys.stream().map(key -> "get " + key).toList()).iterator();
    for (long key : keys) {
      String responseHere = IndexProcess.answer(session, "get", key, 0);
      String responseThere = there.next();
      String response = responseHere.equals(NOT_SERVED) ? responseThere : responseHere;
      assertThat(response).as("key=%d", key).isIn(expected.apply(key));
      assertThat(responseThere).as("key=%d", key).isIn(response, NOT_SERVED);
      operations += responseHere.equals(responseThere) ? 2 : 1;
      found.add(response);
    }
    return found;
  }

  /**
   * Reads all keys after the kill. Those that the killed process has stored may have any value that
   * it has given them; the model has what was found from then on.
   */
  void checkAll(IndexProcess other) throws IOException {
    other.use(number);
    List<Long> keys = List.copyOf(model.keySet());
    for (int from = 0; from < keys.size(); from += BATCH) {
      List<Long> some = keys.subList(from, Math.min(keys.size(), from + BATCH));
      Iterator<String> found = check(other, some, this::possible).iterator();
      for (long key : some) {
        String response = found.next();
        lost += response.equals("value " + model.get(key)) ? 0 : 1;
        if (response.equals(ABSENT)) {
          model.remove(key);
        } else {
          model.put(key, Long.parseLong(response.substring("value ".length())));
        }
      }
    }
  }

  private Set<String> possible(long key) {
    Set<String> values = new HashSet<>(Set.of("value " + model.get(key)));
    if (storedThere.containsKey(key)) {
      values.add(loaded.containsKey(key) ? "value " + loaded.get(key) : ABSENT);
      values.addAll(storedThere.get(key));
    }
    return values;
  }
}
