package pando.index;

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
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import pando.fabric.Fabric;
import pando.fabric.verbs.Cards;

/**
 * An index over RDMA, with two memory servers and two compute processes in processes of their own,
 * of which one is killed and comes back. Only where there is a card.
 */
@EnabledIfSystemProperty(named = "pando.verbs", matches = "true")
@Timeout(1800)
class VerbsProcessTest {
  /** Keys that are written, and then read in both processes, in one round. */
  private static final int BATCH = 100;

  /** Rounds before the kill, and after it. */
  private static final int ROUNDS = Seeds.count(3, 250);

  private static final int RECORDS = 2_000;
  private static final int FIRST = 2;
  private static final List<IndexProcess> MEMORY_SERVERS = new ArrayList<>();
  private static String card = "";

  private static final String NOT_SERVED = NotServedHereException.class.getSimpleName();
  private static final String ABSENT = "absent";

  private final SplittableRandom random = new SplittableRandom(Seeds.of(1701));
  private final NavigableMap<Long, Long> model = Entries.random(random, RECORDS);

  /** What the other process has stored: it may have had that alone when it was killed. */
  private final Map<Long, Set<String>> storedThere = new HashMap<>();

  private int operations;

  static Stream<SystemUnderTest> systems() {
    return Stream.of("dex", "orca", "sherman", "deft", "rolex").map(SystemUnderTest::of);
  }

  @BeforeAll
  static void startMemoryServers() throws IOException {
    card = Cards.names().getFirst();
    for (int i = 0; i < 2; i++) {
      MEMORY_SERVERS.add(IndexProcess.verbsMemoryServer(card, i));
    }
  }

  @AfterAll
  static void stopMemoryServers() throws IOException {
    for (IndexProcess server : MEMORY_SERVERS) {
      server.close();
    }
  }

  @BeforeEach
  void startMemoryServersAnew() throws IOException {
    for (IndexProcess server : MEMORY_SERVERS) {
      server.startAnew();
    }
  }

  @ParameterizedTest
  @MethodSource("systems")
  void shouldShareAnIndexWithAProcessThatIsKilledAndComesBack(SystemUnderTest system)
      throws Exception {
    long start = System.nanoTime();
    NavigableMap<Long, Long> loaded = new TreeMap<>(model);
    String[] places = MEMORY_SERVERS.stream().map(IndexProcess::place).toArray(String[]::new);
    try (Fabric fabric = IndexProcess.verbsFabric(List.of(places), card, 1);
        RangeIndex index = IndexProcess.configuration(system).create(fabric, 0, FIRST)) {
      index.bulkLoad(Entries.of(model), 0.7);
      try (Session session = index.session()) {
        try (IndexProcess other = IndexProcess.verbsComputeServers(system, FIRST, card, places)) {
          // A split that DEX has in the killed process's cache alone is lost by halves.
          shareKeys(session, other, !system.systemName().equals("dex"));
          other.kill();
        }
        try (IndexProcess other = IndexProcess.verbsComputeServers(system, FIRST, card, places)) {
          int lost = checkAll(session, other, loaded);
          shareKeys(session, other, true);
          System.out.printf(
              "%s: operations=%d, lostWithTheProcess=%d, seconds=%d%n",
              system, operations, lost, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
        }
      }
    }
  }

  /** Writes keys, each in a process that serves it, and reads each in both. */
  private void shareKeys(Session session, IndexProcess other, boolean withNewKeys)
      throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      Map<Long, Long> values = new LinkedHashMap<>();
      for (int i = 0; i < BATCH; i++) {
        long any = random.nextLong();
        boolean isNew = withNewKeys && i % 2 == 0;
        long key =
            isNew ? any : Objects.requireNonNullElse(model.ceilingKey(any), model.firstKey());
        values.put(key, random.nextLong());
      }
      boolean isFirst = round % 2 == 0;
      Map<Long, Long> refused = put(session, other, isFirst, values);
      assertThat(put(session, other, !isFirst, refused)).isEmpty();
      model.putAll(values);
      check(session, other, values.keySet(), key -> Set.of("value " + values.get(key)));
    }
  }

  /** Stores values in this process or in the other; returns those that it does not serve. */
  private Map<Long, Long> put(
      Session session, IndexProcess other, boolean isHere, Map<Long, Long> values)
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
      Session session,
      IndexProcess other,
      Collection<Long> keys,
      Function<Long, Set<String>> expected)
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
   * it has given them; the model has what was found from then on. Returns how many were lost.
   */
  private int checkAll(Session session, IndexProcess other, Map<Long, Long> loaded)
      throws IOException {
    List<Long> keys = List.copyOf(model.keySet());
    int lost = 0;
    for (int from = 0; from < keys.size(); from += BATCH) {
      List<Long> some = keys.subList(from, Math.min(keys.size(), from + BATCH));
      Iterator<String> found = check(session, other, some, key -> possible(key, loaded)).iterator();
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
    return lost;
  }

  private Set<String> possible(long key, Map<Long, Long> loaded) {
    Set<String> values = new HashSet<>(Set.of("value " + model.get(key)));
    if (storedThere.containsKey(key)) {
      values.add(loaded.containsKey(key) ? "value " + loaded.get(key) : ABSENT);
      values.addAll(storedThere.get(key));
    }
    return values;
  }
}
