package pando.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** A whole cluster, of processes, as the commands run it. */
final class UpCommandTest extends CommandFixture {
  private final StringWriter told = new StringWriter();
  private final StringWriter lost = new StringWriter();

  @Test
  void shouldRunAClusterThatChangesUnderItsClients() throws InterruptedException {
    CountDownLatch ready = new CountDownLatch(1);
    CommandLine pando = Main.commandLine();
    pando.setOut(printer(told, ready)).setErr(new PrintWriter(lost, true));
    Thread up =
        Thread.ofPlatform()
            .start(() -> {
              pando.execute(
                  "up",
                  "--memory=1",
                  "--index=orca",
                  "--size=64MiB",
                  "--cache=8MiB",
                  "--http=0",
                  "--dir=" + directory);
              ready.countDown();
            });
    try {
      ready.await();
      use();
    } finally {
      up.interrupt();
      up.join();
    }
    assertThat(lost.toString()).contains("pando up: ending; all that was stored is lost");
  }

  private static PrintWriter printer(StringWriter told, CountDownLatch ready) {
    return new PrintWriter(told) {
      @Override
      public void flush() {
        super.flush();
        ready.countDown();
      }
    };
  }

  /**
   * The line that was printed has all that a further compute server needs: the rest is agreed on.
   */
  private void join(String cluster) throws InterruptedException {
    String[] line = found(told, "(compute-server --cluster=.*)").split(" ");
    CountDownLatch ready = new CountDownLatch(1);
    CommandLine pando = Main.commandLine();
    pando.setOut(printer(new StringWriter(), ready)).setErr(new PrintWriter(err, true));
    AtomicInteger code = new AtomicInteger(-1);
    Thread joiner =
        Thread.ofPlatform()
            .start(() -> {
              code.set(pando.execute(line));
              ready.countDown();
            });
    ready.await();
    assertThat(execute("cluster", "add", cluster, "2")).as(err.toString()).isZero();
    assertThat(execute("cluster", "remove", cluster, "2")).as(out.toString()).isZero();
    joiner.join();
    assertThat(code).as(err.toString()).hasValue(0);
  }

  private void use() throws InterruptedException {
    String servers = "--server=" + found(told, "put --server=(\\S+)");
    String secret = "--token-file=" + found(told, "put --server=\\S+ --token-file=(\\S+)");
    String cluster = "--cluster=" + found(told, "--cluster=(\\S+)");
    for (String key : new String[] {"-1", "1"}) {
      assertThat(execute("client", "put", servers, secret, key, "7")).as(err.toString()).isZero();
    }
    assertThat(execute("client", "get", servers, "1")).as("without the secret").isEqualTo(1);
    assertThat(execute("cluster", "status", cluster)).isZero();
    assertThat(out.toString()).contains("index: orca, leader: compute server");
    assertThat(out.toString()).as("a new cluster").doesNotContain("failed");
    join(cluster);
    assertThat(execute("cluster", "add", cluster, "0")).as(err.toString()).isZero();
    assertThat(execute("cluster", "fence", cluster + "-none", "0")).isEqualTo(1);
    assertThat(err.toString()).contains("no such cluster");
    assertThat(execute("cluster", "remove", cluster, "64")).isEqualTo(2);
    assertThat(execute("cluster", "add", cluster, "9")).isEqualTo(1);
    assertThat(out.toString()).contains("failed: it does not run: server=9");
    assertThat(execute("cluster", "remove", cluster, "1")).as(out.toString()).isZero();
    assertThat(execute("client", "get", servers, secret, "-1", "1")).as(err.toString()).isZero();
    assertThat(execute("cluster", "status", "--json", cluster)).isZero();
    assertThat(out.toString()).contains("\"kind\":\"REMOVE\",\"state\":\"DONE\"");
    watch(URI.create(found(told, "live page at (\\S+)")));
    watchFromAnotherProcess(cluster);
  }

  private static void watchFromAnotherProcess(String cluster) throws InterruptedException {
    StringWriter lines = new StringWriter();
    CountDownLatch page = new CountDownLatch(2);
    CommandLine pando = Main.commandLine();
    pando.setOut(printer(lines, page));
    Thread watcher =
        Thread.ofPlatform().start(() -> pando.execute("cluster", "watch", "--http=0", cluster));
    try {
      page.await();
      assertThat(lines.toString()).contains(" ready: all keys are served");
      URI uri = URI.create(found(lines, "live page at (\\S+)"));
      assertThat(read(uri.resolve("/health/ready"))).contains("\"ok\":true");
      assertThat(read(uri.resolve("/metrics"))).contains("pando_cluster_ranges_unserved 0.0\n");
    } finally {
      watcher.interrupt();
      watcher.join();
    }
  }

  /** A page that opens now has what was seen since the cluster was ready. */
  private static void watch(URI page) {
    assertThat(read(page.resolve("/health/ready"))).contains("\"ok\":true");
    assertThat(read(page.resolve("/metrics")))
        .contains(
            "pando_cluster_servers{kind=\"memory\",state=\"serving\"} 1.0\n",
            "pando_cluster_pool_bytes 6.7108864E7\n",
            "pando_cluster_losses_total ",
            "system=\"orca\"");
    try (BufferedReader events =
        new BufferedReader(
            new InputStreamReader(page.resolve("/events").toURL().openStream(), UTF_8))) {
      assertThat(events.readLine()).isEqualTo("event: past");
      assertThat(events.readLine())
          .contains(
              "\"cluster\":{\"index\":\"orca\"",
              "\"cpuSeconds\":{\"0\":",
              "\"ranges\":[{\"server\"");
      assertThat(events.readLine()).isEmpty();
      assertThat(events.readLine()).isEqualTo("event: past");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
