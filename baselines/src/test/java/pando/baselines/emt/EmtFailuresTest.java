package pando.baselines.emt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolFullException;
import pando.fabric.UnknownOutcomeException;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/** CALLs whose answers are lost, and what others do between the CALLs of one operation. */
@Timeout(300)
class EmtFailuresTest {
  private static final EmtOptions TINY =
      EmtOptions.defaults().with("node-bytes", "128").with("kept-nodes", "4").withComputeServers(2);

  /** Operations that would answer another thing if they were executed twice. */
  enum Change {
    PUT,
    PUT_IF_ABSENT,
    REMOVE,
    REPLACE,
    REMOVE_EXPECTED;

    private boolean run(Session session) {
      return switch (this) {
        case PUT -> !session.put(7, 1);
        case PUT_IF_ABSENT -> session.putIfAbsent(7, 1);
        case REMOVE -> session.remove(10) && session.value() == ~10L;
        case REPLACE -> session.replace(10, ~10L, 5);
        case REMOVE_EXPECTED -> session.remove(10, ~10L);
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldRunARepeatedCallOnce(Change change) {
    for (int lost = 1; lost <= 3; lost++) {
      try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1));
          EmtIndex index = TINY.create(fabric, 0, 2);
          Session session = index.session()) {
        for (long key = 10; key <= 500; key += 10) {
          session.put(key, ~key);
        }
        loseAnswers(fabric, lost);
        assertThat(change.run(session)).as("lost=%d", lost).isTrue();
        assertThat(fabric.unhook()).isEqualTo(lost);
        assertThat(EmtOptions.defaults().with("node-bytes", "128").walk(fabric).problems())
            .isEmpty();
      }
    }
  }

  private static void loseAnswers(HookedFabric fabric, int answers) {
    int[] left = {answers};
    fabric.hookEach(
        verbs -> verbs.size() == 0 && left[0]-- > 0,
        posting -> {
          posting.post();
          throw new UnknownOutcomeException("not answered by a test");
        });
  }

  @Test
  void shouldSayThatTheOutcomeIsUnknownWhereNoAnswerComes() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1));
        EmtIndex index = TINY.create(fabric, 0, 2);
        Session session = index.session()) {
      session.put(10, 1);
      loseAnswers(fabric, Integer.MAX_VALUE);
      assertThatThrownBy(() -> session.put(10, 2)).isInstanceOf(UnknownOutcomeException.class);
      fabric.unhook();
      assertThat(session.get(10)).isTrue();
      assertThat(session.value()).isEqualTo(2);
      assertThat(session.put(10, 3)).isTrue();
    }
  }

  @Test
  void shouldServeTheOtherMemoryServers() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1))) {
      EmtIndex index = TINY.create(fabric, 0, 2);
      Session session = index.session();
      session.put(-10, 1);
      session.put(1, 2);
      fabric.lose(1);
      assertThat(session.get(-10)).isTrue();
      assertThatThrownBy(() -> session.get(1)).isInstanceOf(MemoryServerLostException.class);
      assertThatThrownBy(() -> session.put(1, 1)).isInstanceOf(MemoryServerLostException.class);
      assertThat(catchThrowable(index::close)).isInstanceOf(MemoryServerLostException.class);
    }
  }

  @Test
  void shouldFillOneMemoryServerAlone() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 128 << 10, 1));
        EmtIndex index = TINY.create(fabric, 0, 2);
        Session session = index.session()) {
      assertThatThrownBy(
              () -> {
                for (long key = 0; ; key++) {
                  session.put(key, key);
                }
              })
          .isInstanceOf(PoolFullException.class)
          .hasMessageContaining("capacityBytes=");
      assertThat(session.put(-10, 1)).isFalse();
      assertThat(session.get(0)).isTrue();
    }
  }

  /** While a session finds no nodes to give, another one has its tree get some. */
  @Test
  void shouldUseNodesThatATreeGotMeanwhile() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 128 << 10, 1));
        EmtIndex index = TINY.create(fabric, 0, 2);
        Session session = index.session();
        Session other = index.session()) {
      long[] next = {0};
      assertThatThrownBy(
              () -> {
                while (true) {
                  session.put(next[0], next[0]);
                  next[0]++;
                }
              })
          .isInstanceOf(PoolFullException.class);
      fabric.hookNext(
          verbs -> verbs.size() == 0,
          posting -> {
            posting.post();
            for (long key = 0; key < 20; key++) {
              assertThat(other.remove(key)).isTrue();
            }
          });
      assertThat(session.put(next[0], 1)).isFalse();
      assertThat(session.get(next[0])).isTrue();
    }
  }

  /** The CALLs that follow an answered change give nodes to its tree, and take some from it. */
  @Test
  void shouldAnswerAChangeThatIsDoneWhateverFollows() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 4 << 20, 1))) {
      EmtIndex index = TINY.create(fabric, 0, 2);
      Session session = index.session();
      for (long key = 0; key < 2_000; key++) {
        session.put(key, ~key);
      }
      int failed = 0;
      for (long key = 0; key < 2_000; key++) {
        int[] calls = {0};
        fabric.hookEach(
            verbs -> verbs.size() == 0 && ++calls[0] == 2,
            posting -> {
              throw new MemoryServerLostException("by a test");
            });
        assertThat(session.remove(key)).as("key=%s", key).isTrue();
        failed += fabric.unhook();
      }
      assertThat(failed).isPositive();
      index.close();
    }
  }

  /** Between the CALLs of a search, an entry moves from one memory server to another. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldFindANeighbourThatIsAlwaysThere(boolean down) {
    for (int seed = 1; seed <= Seeds.count(60, 300); seed++) {
      assertThat(missed(Seeds.of(seed), down)).as("seed=%d", seed).isNull();
    }
  }

  /**
   * Searches while keys are put and removed so that there always is a neighbour.
   *
   * @return what is wrong with the answer, {@code null} if nothing is
   */
  private static @Nullable String missed(long seed, boolean down) {
    SplittableRandom random = new SplittableRandom(seed);
    long side = down ? 1 : -1;
    try (HookedFabric fabric = new HookedFabric(Pools.open(3, 1 << 20, seed));
        EmtIndex index = TINY.create(fabric, 0, 2);
        Session session = index.session();
        Session other = index.session()) {
      long far = -side * (Long.MAX_VALUE / 2 + random.nextInt(100));
      long near = side * (Long.MAX_VALUE / 2 + random.nextInt(100));
      long wanted = side * (Long.MAX_VALUE - 1_000);
      other.put(far, 1);
      session.get(far);
      int[] left = {random.nextInt(5)};
      fabric.hookNext(
          verbs -> left[0]-- == 0,
          posting -> {
            other.put(near, 2);
            other.remove(far);
            posting.post();
          });
      boolean found = down ? session.floor(wanted) : session.ceiling(wanted);
      long key = session.key();
      fabric.unhook();
      return found && (key == far || key == near) ? null : "found=" + found + ", key=" + key;
    }
  }

  /** Finds a planted bug in a JVM of its own. */
  @Tag("campaign")
  @Test
  void shouldFindAPlantedBug() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    String modules = System.getProperty("jdk.module.path", "");
    String separator = modules.isEmpty() ? "" : System.getProperty("path.separator");
    command.addAll(
        List.of(
            "-Dpando.plant=emt-edge-unconfirmed",
            "-cp",
            System.getProperty("java.class.path") + separator + modules,
            Finder.class.getName()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    System.out.println(output);
    assertThat(process.waitFor()).as(output).isZero();
  }

  /** Runs seeds until one fails. */
  static final class Finder {
    private static final int SEEDS = 50;

    private Finder() {}

    /** Ends with 0 where a neighbour was missed. */
    public static void main(String[] arguments) {
      for (int seed = 1; seed <= SEEDS; seed++) {
        for (boolean down : new boolean[] {true, false}) {
          @Nullable String wrong = missed(seed, down);
          if (wrong != null) {
            System.out.println("seed " + seed + ", down=" + down + ": " + wrong);
            System.exit(0);
          }
        }
      }
      System.out.println("not found in seeds: " + SEEDS);
      System.exit(1);
    }
  }
}
