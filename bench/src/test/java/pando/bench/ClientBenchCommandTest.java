package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import pando.cli.CommandFixture;
import pando.cli.RunningCommand;

final class ClientBenchCommandTest extends CommandFixture {
  @Test
  void shouldRunAWorkload() throws InterruptedException {
    try (RunningCommand server =
        RunningCommand.start(
            err,
            "serve-clients",
            "--listen=127.0.0.1:0",
            "--lanes=1",
            "--bytes-per-server=64MiB",
            "--cache=1MiB")) {
      int status =
          execute(
              "client",
              "bench",
              "--server=" + server.found("for clients at (\\S+), pool local:"),
              "--records=2K",
              "--operations=2K",
              "--warmup=2K",
              "--workload=read-only");
      assertThat(status).as(err.toString()).isZero();
      assertThat(out.toString()).contains("read-only");
    }
  }
}
