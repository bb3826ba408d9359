package pando.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import pando.cli.CommandFixture;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.fabric.UnknownOutcomeException;

/** The data folder of a memory server is copied while clients write, and begins other clusters. */
@EnabledOnOs(OS.LINUX)
@Tag("campaign")
@Timeout(600)
final class ClusterBackupTest extends CommandFixture {
  private static final int KEYS = 400;
  private static final long STEP = Long.MAX_VALUE / KEYS * 2;
  private static final int WRITERS = 2;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final AtomicBoolean isEnough = new AtomicBoolean();

  /** The value of each key that was acknowledged last. */
  private final AtomicLongArray acknowledged = new AtomicLongArray(KEYS);

  /** The value of each key that was sent last. */
  private final AtomicLongArray sent = new AtomicLongArray(KEYS);

  private TestedCluster start(String name, int memoryServers, int computeServers)
      throws IOException {
    TestedCluster.Plan plan =
        new TestedCluster.Plan(
            Machines.ONE, "orca", memoryServers, computeServers, 2, 500, "1MiB", true);
    Path own = directory.resolve(name);
    Files.createDirectories(own);
    return TestedCluster.start(plan, own);
  }

  private static long key(int number) {
    return Long.MIN_VALUE + number * STEP;
  }

  /** Writes each key of one writer, again and again. */
  private void write(TestedCluster cluster, int writer) {
    try (PandoClient client = cluster.connect(PATIENCE);
        ClientSession session = client.session()) {
      for (long value = 1; !isEnough.get(); value++) {
        for (int number = writer; number < KEYS && !isEnough.get(); number += WRITERS) {
          write(session, number, value);
        }
      }
    }
  }

  private void write(ClientSession session, int number, long value) {
    sent.set(number, value);
    try {
      session.store(key(number), value);
      acknowledged.set(number, value);
    } catch (UnknownOutcomeException e) {
      // A generation ended meanwhile.
    }
  }

  private long[] acknowledgedNow() {
    return IntStream.range(0, KEYS).mapToLong(acknowledged::get).toArray();
  }

  /** Checks that each key has at least what was acknowledged, and nothing that was never sent. */
  private void check(TestedCluster cluster, long[] least) {
    try (PandoClient client = cluster.connect(PATIENCE);
        ClientSession session = client.session()) {
      for (int number = 0; number < KEYS; number++) {
        long value = session.get(key(number)) ? session.value() : 0;
        assertThat(value).as("key %s", number).isBetween(least[number], sent.get(number));
      }
    }
  }

  /** Has the cluster begin anew, and starts again what ends. */
  private void rebuild(TestedCluster cluster) throws InterruptedException {
    long last = cluster.generation();
    assertThat(execute("cluster", "rebuild", "--wait=0", "--cluster=" + cluster.address()))
        .as(err.toString())
        .isEqualTo(1);
    while (cluster.generation() <= last) {
      cluster.startEnded();
      Thread.sleep(100);
    }
    cluster.state().awaitServing(1, PATIENCE);
  }

  private void awaitFirstWrites() throws InterruptedException {
    while (IntStream.range(0, KEYS).anyMatch(number -> acknowledged.get(number) < 2)) {
      Thread.sleep(10);
    }
  }

  @Test
  void shouldServeABackupInAClusterOfAnotherSize() throws Exception {
    Path backup = directory.resolve("backup");
    long[] before;
    try (ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        TestedCluster first = start("first", 2, 1)) {
      List<CompletableFuture<Void>> writers =
          IntStream.range(0, WRITERS)
              .mapToObj(writer -> CompletableFuture.runAsync(() -> write(first, writer), threads))
              .toList();
      try {
        awaitFirstWrites();
        before = acknowledgedNow();
        Path folder = directory.resolve("first/data-0");
        assertThat(execute("data", "backup", "" + folder, "" + backup)).as("" + err).isZero();
        long[] later = acknowledgedNow();
        rebuild(first);
        check(first, later);
      } finally {
        isEnough.set(true);
      }
      writers.forEach(CompletableFuture::join);
      check(first, acknowledgedNow());
    }
    assertThat(execute("data", "check", "" + backup)).as("" + err).isZero();
    Path restored = directory.resolve("second/data-0");
    assertThat(execute("data", "restore", "" + backup, "" + restored)).as("" + err).isZero();
    try (TestedCluster second = start("second", 3, 2)) {
      second.startCompute(1);
      second.compute(1).awaitReady(60);
      check(second, before);
      assertThat(directory.resolve("second/data-1/manifest")).exists();
    }
  }
}
