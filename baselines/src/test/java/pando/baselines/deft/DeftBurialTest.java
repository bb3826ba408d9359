package pando.baselines.deft;

import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.baselines.suites.BurialSweep;
import pando.fabric.ComputeServer;
import pando.index.HookedFabric;
import pando.index.IndexOptions;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

/** A compute server dies at any verb of a change, and is buried in a drain, in virtual time. */
@Timeout(600)
class DeftBurialTest extends BurialSweep {
  private static final long NANOS_MAX = 1_000_000_000_000L;
  private static final long EVENTS_MAX = 10_000_000;

  DeftBurialTest() {
    super(260, 945);
  }

  private static DeftOptions options(String validation, String sxLocks) {
    return DeftOptions.defaults()
        .withComputeServers(2)
        .withNodeBytes(448)
        .withCacheBytes(64 << 10)
        .with("validation", validation)
        .with("sx-locks", sxLocks)
        .with("merge-share", "0.5")
        .with("lock-wait-millis", "20");
  }

  @Test
  void shouldEndWhatWasHalfDone() {
    crashAtEachVerbOfSome(options("opdv", "on"));
  }

  @Tag("campaign")
  @ParameterizedTest
  @CsvSource({"opdv, on", "versions, on", "checksum, on", "checksum, off"})
  void shouldEndEveryChangeThatWasHalfDone(String validation, String sxLocks) {
    crashAtEachVerbOfAll(options(validation, sxLocks));
  }

  @Override
  protected Run open(IndexOptions options) {
    return new SimulatedRun(options);
  }

  private static HookedFabric attach(Cluster cluster, int number, long epoch) {
    return new HookedFabric(cluster.fabric(number, new ComputeServer(number, epoch)));
  }

  private final class SimulatedRun extends Run {
    private final Cluster cluster;

    SimulatedRun(IndexOptions options) {
      Cluster opened =
          new Cluster(
              ClusterOptions.defaults()
                  .withServers(2, 2)
                  .withBytesPerServer(1 << 20)
                  .withChunkBytes(64 << 10)
                  .withSeed(1));
      this.cluster = opened;
      super(options, attach(opened, LIVING, 1).withDrains(), attach(opened, LOST, 1));
    }

    @Override
    protected HookedFabric attachAgain() {
      return attach(cluster, LOST, 2).withDrains();
    }

    @Override
    protected void buryByLiving() {
      living.bury(LOST);
    }

    /** {@inheritDoc} By a session of each process. */
    @Override
    protected void check(String what, int change) {
      RangeIndex other = again;
      if (other != null) {
        spawn(LOST, other, session -> checkEntries(session, what, change));
      }
      spawn(LIVING, living, session -> checkEntries(session, what, change));
      cluster.run(NANOS_MAX, EVENTS_MAX);
      spawn(LIVING, living, this::storeAll);
      cluster.run(NANOS_MAX, EVENTS_MAX);
      checkTree(what);
    }

    private void spawn(int machine, RangeIndex index, Consumer<Session> body) {
      cluster
          .core(machine)
          .spawn(
              "client-" + machine,
              () -> {
                try (Session session = index.session()) {
                  body.accept(session);
                }
              });
    }

    /** The lost one is not closed: nothing of it takes effect any more. */
    @Override
    public void close() {
      super.close();
      cluster.close();
    }
  }
}
