package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.PandoClient;
import pando.durable.DurableIndex;
import pando.fabric.Fabric;
import pando.index.RangeIndex;
import pando.journal.DataFolder;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A program that embeds maps of a data folder is killed: what they had returned is there at the
 * next start, and of each batch all or nothing.
 */
class KilledProgramTest {
  private static final int KILLS = Boolean.getBoolean("pando.campaign") ? 50 : 2;
  private static final int THREADS = 4;
  private static final int KEYS = 50;

  @TempDir private Path folder;

  /** Puts numbers that grow; prints each once the map has returned. */
  static final class Program {
    private Program() {}

    public static void main(String[] arguments) throws InterruptedException {
      long seed = Long.parseLong(arguments[1]);
      try (Pando pando = Pando.open(arguments[0])) {
        PandoMap<Long, Long> words = pando.map("words", KeyCodec.longs(), ValueCodec.longs());
        PandoMap<String, String> texts = pando.map("t", KeyCodec.strings(), ValueCodec.strings());
        List<Thread> threads = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
          SplittableRandom random = new SplittableRandom(seed + thread);
          int its = thread;
          threads.add(Thread.ofPlatform().start(() -> run(its, pando, words, texts, random)));
        }
        for (Thread thread : threads) {
          thread.join();
        }
      }
    }

    private static void run(
        int thread,
        Pando pando,
        PandoMap<Long, Long> words,
        PandoMap<String, String> texts,
        SplittableRandom random) {
      long first = words.values().stream().mapToLong(Long::longValue).max().orElse(0);
      for (long number = first + 1; ; number++) {
        long key = random.nextLong(KEYS) * THREADS + thread;
        String text = number + "x".repeat(random.nextInt(2_000));
        if (isOfBatches(key)) {
          pando.batch().put(words, key, number).put(texts, "key" + key, text).commit();
        } else {
          words.put(key, number);
          texts.put("key" + key, text);
        }
        System.out.println(key + " " + number);
      }
    }
  }

  /** Returns whether both maps get the number of a key at once. */
  private static boolean isOfBatches(long key) {
    return key % THREADS < THREADS / 2;
  }

  private static String root(Class<?> type) {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath()).toString();
  }

  private Process start(String address, long seed) throws IOException {
    List<String> roots =
        Stream.of(
                Fabric.class,
                RangeIndex.class,
                DataFolder.class,
                DurableIndex.class,
                PandoClient.class,
                PandoMap.class,
                KilledProgramTest.class)
            .map(KilledProgramTest::root)
            .toList();
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            String.join(":", roots),
            Program.class.getName(),
            address,
            Long.toString(seed))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  @ParameterizedTest
  @ValueSource(strings = {"everysec", "always"})
  void shouldFindWhatHadReturned(String sync) throws IOException, InterruptedException {
    long seed = Long.getLong("pando.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    String address = "local:" + folder + "?size=64MiB&cache=8MiB&sync=" + sync;
    Map<Long, Long> returned = new TreeMap<>();
    for (int kill = 0; kill < KILLS; kill++) {
      Process program = start(address, random.nextLong());
      try (BufferedReader lines = program.inputReader(StandardCharsets.UTF_8)) {
        int left = 1 + random.nextInt(3_000);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          String[] words = line.split(" ", -1);
          // The last line may be cut: its number is shorter then, or missing.
          if (words.length == 2 && !words[1].isEmpty()) {
            returned.merge(Long.parseLong(words[0]), Long.parseLong(words[1]), Math::max);
          }
          if (--left == 0) {
            program.toHandle().destroyForcibly(); // its lines can still be read
          }
        }
      } finally {
        program.destroyForcibly().waitFor();
      }
      check(address, returned, seed);
    }
  }

  private static void check(String address, Map<Long, Long> returned, long seed) {
    assertThat(returned).isNotEmpty();
    try (Pando pando = Pando.open(address)) {
      PandoMap<Long, Long> words = pando.map("words", KeyCodec.longs(), ValueCodec.longs());
      PandoMap<String, String> texts = pando.map("t", KeyCodec.strings(), ValueCodec.strings());
      returned.forEach((key, number) -> {
        String text = texts.get("key" + key);
        assertThat(words.get(key)).as("pando.seed=" + seed).isGreaterThanOrEqualTo(number);
        assertThat(text).as("pando.seed=" + seed).isNotNull();
        assertThat(number(text)).as("pando.seed=" + seed).isGreaterThanOrEqualTo(number);
      });
      words.forEach((key, number) -> {
        if (isOfBatches(key)) {
          assertThat(texts).as("pando.seed=" + seed).containsKey("key" + key);
          assertThat(number(texts.get("key" + key))).as("pando.seed=" + seed).isEqualTo(number);
        }
      });
    }
  }

  private static long number(@Nullable String text) {
    return Long.parseLong(Objects.requireNonNull(text).replaceAll("x", ""));
  }
}
