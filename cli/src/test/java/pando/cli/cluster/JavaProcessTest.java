package pando.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class JavaProcessTest {
  @Test
  void shouldEndWithAProcessThatIsKilled() throws IOException, InterruptedException {
    Process parent = new ProcessBuilder("sleep", "60").start();
    try (JavaProcess server =
        JavaProcess.start(
            List.of(
                "memory-server",
                "--listen=127.0.0.1:0",
                "--size=8MiB",
                "--parent=" + parent.pid()))) {
      assertThat(server.awaitLine()).contains("is ready at 127.0.0.1:");
      CountDownLatch ended = new CountDownLatch(1);
      server.onEnd(ended::countDown);
      parent.destroyForcibly();
      assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      parent.destroyForcibly();
    }
  }
}
