package pando.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import pando.client.ClientOptions;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.fabric.tcp.Authentication;

/**
 * {@code pando up} as a process, all processes of which stand still, and one of which is killed.
 */
@EnabledOnOs(OS.LINUX)
@Timeout(240)
class UpProcessTest {
  private static final int KEYS = 400;
  private static final long STEP = Long.MAX_VALUE / KEYS * 2;
  private static final int SESSION_SECONDS = 1;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private Path directory;

  private Path told() {
    return directory.resolve("told");
  }

  private Process start(String... more) throws IOException {
    List<String> options =
        new ArrayList<>(
            List.of(
                "up",
                "--index=dex",
                "--size=64MiB",
                "--cache=1MiB",
                "--session-timeout=" + SESSION_SECONDS,
                "--dir=" + directory));
    options.addAll(List.of(more));
    List<String> up = JavaProcess.command(List.of("-XX:TieredStopAtLevel=1"), options);
    return new ProcessBuilder(up).redirectError(told().toFile()).start();
  }

  private static PandoClient connect(String introduction) {
    ClientOptions options =
        ClientOptions.defaults()
            .withAuthentication(
                Authentication.token(Path.of(found(introduction, "--token-file=(\\S+)"))))
            .withPatience(PATIENCE);
    return PandoClient.connect(found(introduction, "--server=(\\S+)"), options);
  }

  private static void end(Process up) throws InterruptedException {
    List<ProcessHandle> children = up.descendants().toList();
    up.destroy();
    if (!up.waitFor(60, TimeUnit.SECONDS)) {
      up.destroyForcibly();
      children.forEach(ProcessHandle::destroyForcibly);
    }
  }

  /** Kills it, and all processes that it has started, at once. */
  private static void kill(Process up) throws Exception {
    List<ProcessHandle> children = up.descendants().toList();
    List<Long> all = new ArrayList<>(List.of(up.pid()));
    children.forEach(child -> all.add(child.pid()));
    signal("KILL", all);
    up.waitFor();
    await(() -> children.stream().noneMatch(ProcessHandle::isAlive));
  }

  @Test
  void shouldHaveEverythingAgainAfterAllWasKilled() throws Exception {
    String data = "--data=" + directory.resolve("data");
    Process first = start(data, "--compute=1");
    try (PandoClient client = connect(introduction(first));
        ClientSession session = client.session()) {
      for (int i = 0; i < KEYS; i++) {
        assertThat(session.put(Long.MIN_VALUE + i * STEP, i)).isFalse();
      }
      kill(first);
    } finally {
      end(first);
    }
    Process second = start(data, "--compute=1");
    try (PandoClient client = connect(introduction(second));
        ClientSession session = client.session()) {
      for (int i = 0; i < KEYS; i++) {
        assertThat(session.get(Long.MIN_VALUE + i * STEP)).as("%s: found", i).isTrue();
        assertThat(session.value()).isEqualTo(i);
      }
    } finally {
      end(second);
    }
  }

  /** Returns what it prints until it is ready. */
  private String introduction(Process up) throws IOException {
    StringBuilder lines = new StringBuilder();
    BufferedReader reader = up.inputReader();
    for (String line = reader.readLine(); line != null; line = reader.readLine()) {
      lines.append(line).append('\n');
      if (line.startsWith("Ctrl-C")) {
        return lines.toString();
      }
    }
    throw new IOException("has ended: " + lines + Files.readString(told()));
  }

  private static String found(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as("%s in %s", pattern, text).isTrue();
    return matcher.group(1);
  }

  private static void signal(String name, List<Long> processes) throws Exception {
    List<String> kill = new ArrayList<>(List.of("kill", "-" + name));
    processes.forEach(process -> kill.add(String.valueOf(process)));
    assertThat(new ProcessBuilder(kill).inheritIO().start().waitFor()).isZero();
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** Returns how many losses the page of the cluster has. */
  private static int losses(URI metrics) {
    try (InputStream in = metrics.toURL().openStream()) {
      String text = new String(in.readAllBytes(), UTF_8);
      return (int) Double.parseDouble(found(text, "\npando_cluster_losses_total (\\S+)"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean hasTold(String pattern) {
    try (Stream<String> lines = Files.lines(told())) {
      return lines.anyMatch(Pattern.compile(pattern).asPredicate());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Tag("campaign")
  @Test
  void shouldLoseNothingAsAllStandStillAndStartAgainWhatIsKilled() throws Exception {
    Process up = start("--memory=1", "--http=0");
    try {
      String introduction = introduction(up);
      try (PandoClient client = connect(introduction);
          ClientSession session = client.session()) {
        for (int i = 0; i < KEYS; i++) {
          assertThat(session.put(Long.MIN_VALUE + i * STEP, i)).isFalse();
        }
        List<Long> all = new ArrayList<>(List.of(up.pid()));
        up.descendants().forEach(process -> all.add(process.pid()));
        signal("STOP", all);
        // For longer than sessions last.
        TimeUnit.SECONDS.sleep(2 * SESSION_SECONDS);
        signal("CONT", all);
        for (int i = 0; i < KEYS; i++) {
          assertThat(session.get(Long.MIN_VALUE + i * STEP)).as("%s: found", i).isTrue();
          assertThat(session.value()).isEqualTo(i);
        }
        assertThat(hasTold("is lost;|is lost for good")).isFalse();
        URI metrics = URI.create(found(introduction, "live page at (\\S+)")).resolve("metrics");
        assertThat(losses(metrics)).isZero();
        long killed = Long.parseLong(found(introduction, "compute server 1 is process (\\d+)"));
        signal("KILL", List.of(killed));
        await(() -> hasTold("compute server 1 is process \\d+ now"));
        assertThat(
                hasTold(
                    "compute server 1 \\(process "
                        + killed
                        + "\\) was killed.*not written back is lost"))
            .isTrue();
        await(() -> losses(metrics) == 1);
        for (int i = 0; i < KEYS; i++) {
          session.store(Long.MIN_VALUE + i * STEP, -i);
          assertThat(session.get(Long.MIN_VALUE + i * STEP)).isTrue();
          assertThat(session.value()).isEqualTo(-i);
        }
      }
    } finally {
      end(up);
    }
  }
}
