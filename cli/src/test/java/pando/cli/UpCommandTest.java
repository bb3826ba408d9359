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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** A whole cluster, of processes, as the commands run it. */
final class UpCommandTest extends CommandFixture {
  private final StringWriter told = new StringWriter();
  private final StringWriter lost = new StringWriter();

  /** What is done with a cluster that runs. */
  @FunctionalInterface
  private interface Use {
    void run() throws InterruptedException;
  }

  @Test
  void shouldRunAClusterThatChangesUnderItsClients() throws InterruptedException {
    run(this::use, "--index=orca", "--http=0");
  }

  @Test
  void shouldServeByteStringsByDefault() throws InterruptedException {
    run(this::useStrings);
  }

  private void run(Use use, String... more) throws InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of("up", "--memory=1", "--size=64MiB", "--cache=8MiB", "--dir=" + directory));
    command.addAll(List.of(more));
    CountDownLatch ready = new CountDownLatch(1);
    CommandLine pando = Main.commandLine();
    pando.setOut(printer(told, ready)).setErr(new PrintWriter(lost, true));
    Thread up =
        Thread.ofPlatform()
            .start(() -> {
              pando.execute(command.toArray(String[]::new));
              ready.countDown();
            });
    try {
      ready.await();
      use.run();
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

  private void useStrings() {
    String access =
        "--server="
            + found(told, "put --server=(\\S+)")
            + " --token-file="
            + found(told, "put --server=\\S+ --token-file=(\\S+)");
    String cluster = "--cluster=" + found(told, "--cluster=(\\S+)");
    assertThat(told.toString()).contains(" apple 100").contains("serve --resp=6379");
    for (String key : new String[] {"apple", "melon", "pear"}) {
      assertThat(run("client put " + access + " " + key + " of-" + key)).isZero();
    }
    for (String number : new String[] {"0", "1"}) { // One of them has all keys; now both have some.
      assertThat(run("cluster add " + cluster + " " + number)).as(out.toString()).isZero();
    }
    assertThat(run("cluster status --json " + cluster)).isZero();
    String upper = found(out, "\"ranges\":\\[\\{[^}]*\\},\\{\"server\":(\\d)");
    assertThat(run("cluster move " + cluster + " " + upper + " melon/2"))
        .as(out.toString())
        .isZero();
    assertThat(run("cluster status " + cluster)).isZero();
    assertThat(out.toString())
        .contains("index: byte-strings, log: memory, leader: compute server", "share of entries")
        .contains("  \"melon/2\"  ");
    assertThat(run("client get " + access + " apple melon pear")).as(err.toString()).isZero();
    assertThat(out.toString()).contains("apple of-apple", "melon of-melon", "pear of-pear");
    assertThat(run("client scan " + access + " --down --limit=2")).as(err.toString()).isZero();
    assertThat(run("cluster split " + cluster + " " + upper + " pear 9")).isEqualTo(1);
    assertThat(out.toString()).contains("failed: the receiver does not run, or has a range: 9");
    assertThat(run("cluster status --json " + cluster)).isZero();
    assertThat(out.toString()).contains("\"from\":\"\\\"melon/2\\\"\"");
  }

  private int run(String command) {
    return execute(command.split(" ", -1));
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
    assertThat(out.toString()).contains("index: orca, log: memory, leader: compute server");
    assertThat(out.toString()).as("a new cluster").doesNotContain("failed");
    join(cluster);
    assertThat(execute("cluster", "add", cluster, "0")).as(err.toString()).isZero();
    assertThat(execute("cluster", "fence", cluster + "-none", "0")).isEqualTo(1);
    assertThat(err.toString()).contains("no such cluster");
    assertThat(execute("cluster", "rebuild", cluster + "-none")).isEqualTo(1);
    assertThat(execute("cluster", "rebuild", cluster)).isEqualTo(1);
    assertThat(err.toString()).contains("the cluster has no data folders to begin with");
    assertThat(execute("cluster", "rebuild", "--from=2", cluster)).isEqualTo(2);
    assertThat(execute("cluster", "remove", cluster, "64")).isEqualTo(2);
    assertThat(execute("cluster", "move", cluster, "1", "melon")).isEqualTo(2);
    assertThat(err.toString()).contains("no whole number of 64 bits: key=melon");
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
