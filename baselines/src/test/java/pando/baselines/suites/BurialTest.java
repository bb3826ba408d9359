package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.ComputeServer;
import pando.fabric.PandoException;
import pando.fabric.local.LocalPool;
import pando.fabric.server.PoolOptions;
import pando.index.HookedFabric;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;

/** A compute server dies at any verb of a change, and another one, or its next start, buries it. */
@Timeout(600)
class BurialTest extends BurialSweep {
  BurialTest() {
    super(120, 7);
  }

  @ParameterizedTest
  @CsvSource({
    "sherman, validation=checksum",
    "rolex,   retraining=on",
  })
  void shouldEndWhatWasHalfDone(String system, String setting) {
    crashAtEachVerbOfSome(options(system, setting));
  }

  @Tag("campaign")
  @ParameterizedTest
  @CsvSource({
    "sherman,   validation=lines",
    "sherman,   validation=checksum",
    "sherman,   validation=versions",
    "fg,        validation=lines",
    "fg,        validation=checksum",
    "fg,        validation=versions",
    "p-sherman, validation=lines",
    "p-sherman, validation=checksum",
    "p-sherman, validation=versions",
    "rolex,     retraining=on",
    "rolex,     retraining=off",
    "xstore-d,  retraining=on",
  })
  void shouldEndEveryChangeThatWasHalfDone(String system, String setting) {
    crashAtEachVerbOfAll(options(system, setting));
  }

  @Test
  void shouldNotBuryWhatLivesHere() {
    try (LocalPool pool = pool();
        RangeIndex index =
            options("sherman", "validation=lines").create(attach(pool, LIVING, 1), LIVING, 1)) {
      assertThatThrownBy(() -> index.bury(LIVING))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("lives here");
    }
  }

  /** It lives in another process. */
  @ParameterizedTest
  @ValueSource(strings = {"sherman", "deft", "rolex"})
  void shouldNotBuryWhatWasNotFenced(String system) {
    IndexOptions options = Systems.named(system).tiny().withComputeServers(2);
    try (LocalPool pool = pool();
        RangeIndex index = options.create(attach(pool, LIVING, 1), LIVING, 1);
        RangeIndex other = options.join(attach(pool, LOST, 1), LOST, 1);
        Session session = other.session()) {
      assertThatThrownBy(() -> index.bury(LOST))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("lost=1");
      session.store(1, 10);
      assertThat(session.get(1)).isTrue();
    }
  }

  private static IndexOptions options(String system, String setting) {
    String[] parts = setting.split("=", 2);
    return Systems.named(system)
        .tiny()
        .withComputeServers(2)
        .with("lock-wait-millis", "20")
        .with(parts[0], parts[1]);
  }

  private static LocalPool pool() {
    return LocalPool.start(
        PoolOptions.defaults()
            .withMemoryServers(2)
            .withBytesPerServer(8 << 20)
            .withHandlers(Systems.handlers()));
  }

  private static HookedFabric attach(LocalPool pool, int number, long epoch) {
    return new HookedFabric(pool.attach(new ComputeServer(number, epoch), 10L * number + epoch))
        .withTasksByHand();
  }

  @Override
  protected Run open(IndexOptions options) {
    return new LocalRun(options);
  }

  private final class LocalRun extends Run {
    private final LocalPool pool;

    LocalRun(IndexOptions options) {
      LocalPool opened = pool();
      this.pool = opened;
      super(options, attach(opened, LIVING, 1), attach(opened, LOST, 1));
    }

    @Override
    protected HookedFabric attachAgain() {
      return attach(pool, LOST, 2);
    }

    @Override
    protected boolean crash(int number, int lists, int verbs) {
      boolean crashed = super.crash(number, lists, verbs);
      closeLost();
      return crashed;
    }

    @Override
    protected void buryByLiving() {
      if (options.isPartitioned()) {
        living.partitions().orElseThrow().takeOver(LOST, LIVING);
      } else {
        living.bury(LOST);
      }
    }

    @Override
    protected void check(String what, int change) {
      RangeIndex other = again;
      try (Session reader =
          other != null && options.isPartitioned() ? other.session() : living.session()) {
        checkEntries(reader, what, change);
        storeAll(reader);
      }
      fabric.runTasks();
      checkTree(what);
    }

    private void closeLost() {
      for (AutoCloseable its : List.of(session, lost)) {
        try {
          its.close();
        } catch (Exception e) {
          assertThat(e).isInstanceOfAny(PandoException.class, IllegalStateException.class);
        }
      }
    }

    @Override
    public void close() {
      closeLost();
      super.close();
      pool.close();
    }
  }
}
