package pando.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.Threads;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Changes of several maps that count together. */
@Timeout(300)
class BatchTest {
  private static final String SIZES = "?size=64MiB&cache=8MiB";
  private static final int ACCOUNTS = 10;
  private static final int TRANSFERS = Boolean.getBoolean("pando.campaign") ? 100_000 : 2_000;

  @TempDir private Path temporary;

  private Pando open(boolean inFolder) {
    return Pando.open("local:" + (inFolder ? temporary.resolve("data") : "") + SIZES);
  }

  private static PandoMap<String, Long> accounts(Pando pando) {
    return pando.map("accounts", KeyCodec.strings(), ValueCodec.longs());
  }

  private static PandoMap<Long, String> transfers(Pando pando) {
    return pando.map("transfers", KeyCodec.longs(), ValueCodec.strings());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldChangeMapsTogether(boolean inFolder) {
    try (Pando pando = open(inFolder)) {
      PandoMap<String, String> unnamed = pando.map(KeyCodec.strings(), ValueCodec.strings());
      PandoMap<String, Long> accounts = accounts(pando);
      unnamed.put("old", "value");
      Batch batch =
          pando
              .batch()
              .put(accounts, "ada", 1L)
              .put(unnamed, "ada", "text")
              .put(accounts, "ada", 2L)
              .remove(unnamed, "old")
              .remove(unnamed, "not there");
      assertThat(batch.size()).isEqualTo(4);
      assertThat(accounts).isEmpty();
      batch.commit();
      assertThat(batch.size()).isZero();
      batch.commit();
      assertThat(accounts).containsEntry("ada", 2L).hasSize(1);
      assertThat(unnamed).containsEntry("ada", "text").hasSize(1);
    }
    if (inFolder) {
      try (Pando pando = open(true)) {
        assertThat(accounts(pando)).containsEntry("ada", 2L).hasSize(1);
        assertThat(pando.map(KeyCodec.strings(), ValueCodec.strings()))
            .containsEntry("ada", "text")
            .hasSize(1);
      }
    }
  }

  /** Money is moved between accounts, and there is as much of it at any moment. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldKeepTheSum(boolean inFolder) throws Exception {
    long seed = Long.getLong("pando.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    try (Pando pando = open(inFolder)) {
      PandoMap<String, Long> accounts = accounts(pando);
      PandoMap<Long, String> transfers = transfers(pando);
      for (int i = 0; i < ACCOUNTS; i++) {
        accounts.put("account " + i, 100L);
      }
      AtomicInteger writers = new AtomicInteger(1);
      List<Callable<Void>> tasks = new ArrayList<>();
      tasks.add(() -> {
        try {
          for (long i = 0; i < TRANSFERS; i++) {
            String from = "account " + random.nextInt(ACCOUNTS);
            String to = "account " + random.nextInt(ACCOUNTS);
            if (!from.equals(to)) {
              Batch batch = pando.batch();
              batch.put(accounts, from, Objects.requireNonNull(accounts.get(from)) - 1);
              batch.put(accounts, to, Objects.requireNonNull(accounts.get(to)) + 1);
              batch.put(transfers, i, from + " to " + to).commit();
            }
          }
          return null;
        } finally {
          writers.decrementAndGet();
        }
      });
      tasks.add(() -> {
        while (writers.get() > 0) {
          assertThat(sum(accounts)).as("pando.seed=" + seed).isEqualTo(100L * ACCOUNTS);
        }
        return null;
      });
      Threads.run(tasks);
      assertThat(sum(accounts)).as("pando.seed=" + seed).isEqualTo(100L * ACCOUNTS);
    }
  }

  private static long sum(PandoMap<String, Long> accounts) {
    return Objects.requireNonNull(accounts.snapshot(accounts, ACCOUNTS)).values().stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  @Test
  @SuppressWarnings("NullAway") // Null is among what it refuses.
  void shouldRefuseMapsOfOthers() {
    try (Pando pando = open(false);
        Pando other = open(false);
        Pando ofWords = open(false)) {
      Batch batch = pando.batch();
      PandoMap<String, Long> accounts = accounts(pando);
      PandoMap<String, Long> others = accounts(other);
      PandoMap<Long, Long> words = ofWords.map(KeyCodec.longs(), ValueCodec.longs());
      assertThatIllegalArgumentException()
          .isThrownBy(() -> batch.put(others, "a", 1L))
          .withMessageContaining("of one Pando");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> batch.remove(words, 1L))
          .withMessageContaining("byte strings=false");
      assertThatIllegalStateException().isThrownBy(ofWords::batch);
      assertThatNullPointerException().isThrownBy(() -> batch.put(accounts, "a", null));
      assertThatNullPointerException().isThrownBy(() -> batch.remove(accounts, null));
      assertThat(batch.size()).isZero();

      batch.put(accounts, "a", 1L);
      accounts.close();
      assertThatIllegalStateException().isThrownBy(() -> batch.put(accounts, "a", 1L));
      assertThatIllegalStateException().isThrownBy(batch::commit);
      assertThat(batch.size()).isEqualTo(1);
      assertThat(accounts(pando)).isEmpty();
    }
  }

  @Test
  void shouldChangeNothingIfAllIsTooLong() {
    try (Pando pando = open(true)) {
      PandoMap<Long, String> texts = transfers(pando);
      texts.put(0L, "before");
      Batch batch = pando.batch().put(texts, 0L, "after");
      for (long i = 1; i <= 6; i++) {
        batch.put(texts, i, "x".repeat(4 << 20));
      }
      assertThatIllegalArgumentException()
          .isThrownBy(batch::commit)
          .withMessageContaining("too long for the log");
      assertThat(texts).containsEntry(0L, "before").hasSize(1);
      batch.clear();
      batch.put(texts, 0L, "after").commit();
      assertThat(texts).containsEntry(0L, "after");
    }
  }
}
