package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.door.resp.TestDoor.Form;
import pando.index.Seeds;
import pando.index.Threads;

/** Requests while a door gives memory back again and again. */
class RestsTest {
  private static final int CLIENTS = 3;
  private static final int KEYS = 30;
  private static final int LARGE_BYTES_MAX = 100_000;

  /**
   * Each client has keys of its own; large values and replies keep event loops and threads busy.
   */
  @ParameterizedTest
  @EnumSource
  void shouldAnswerAsAlwaysDuringRests(Form form) throws Exception {
    long seed = Seeds.of(1);
    int requests = Seeds.count(100, 10_000);
    try (TestDoor door = TestDoor.open(form)) {
      AtomicInteger left = new AtomicInteger(CLIENTS);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int number = 0; number < CLIENTS; number++) {
        String prefix = String.valueOf((char) ('a' + number));
        SplittableRandom random = new SplittableRandom(seed + number);
        tasks.add(() -> {
          try (RawClient client = door.raw()) {
            ask(client, prefix, random, requests);
          } finally {
            left.decrementAndGet();
          }
          return null;
        });
      }
      tasks.add(() -> {
        for (int i = 0; left.get() > 0; i++) {
          door.door().giveMemoryBack();
          if (i % 2 == 0) {
            door.index().giveMemoryBack();
          } else {
            door.index().giveFreePlacesBack();
          }
        }
        return null;
      });
      Threads.run(tasks);
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  private static void ask(RawClient client, String prefix, SplittableRandom random, int requests)
      throws Exception {
    NavigableMap<String, String> model = new TreeMap<>();
    for (int i = 0; i < requests; i++) {
      String key = prefix + random.nextInt(KEYS);
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> {
          int length = random.nextInt(random.nextInt(4) == 0 ? LARGE_BYTES_MAX : 100);
          String value = String.valueOf((char) ('a' + random.nextInt(26))).repeat(length);
          assertThat(client.ask("SET", key, value)).isEqualTo("+OK");
          model.put(key, value);
        }
        case 3 ->
            assertThat(client.ask("DEL", key)).isEqualTo(model.remove(key) == null ? ":0" : ":1");
        case 4, 5 -> assertThat(client.ask("GET", key)).isEqualTo(model.getOrDefault(key, "nil"));
        case 6 -> assertThat(client.ask("KEYS", prefix + "*")).isEqualTo(model.keySet().toString());
        default -> {
          List<String> all = new ArrayList<>(List.of("MGET"));
          all.addAll(model.keySet());
          all.add(prefix);
          List<String> values = new ArrayList<>(model.values());
          values.add("nil");
          assertThat(client.ask(all.toArray(String[]::new))).isEqualTo(values.toString());
        }
      }
    }
  }
}
