package pando.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands that keep what they have acknowledged in a data folder. */
class DataOptionTest extends CommandFixture {
  private RunningCommand serve(String index) throws InterruptedException {
    return RunningCommand.start(
        err,
        "serve-clients",
        "--index=" + index,
        "--listen=127.0.0.1:0",
        "--bytes-per-server=64MiB",
        "--cache=1MiB",
        "--data=" + directory.resolve("data"),
        "--sync=always");
  }

  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex", "sherman", "byte-strings"})
  void shouldFindWhatClientsStored(String index) throws InterruptedException {
    for (int start = 0; start < 3; start++) {
      try (RunningCommand server = serve(index)) {
        String address = "--server=" + server.found("for clients at (\\S+), pool local:");
        assertThat(execute("client", "put", address, Integer.toString(start), "7")).isZero();
        for (int stored = 0; stored <= start; stored++) {
          assertThat(execute("client", "get", address, Integer.toString(stored))).isZero();
        }
      }
    }
  }

  /** A file that is cut off takes nothing more: an access to its mapping fails. */
  @ParameterizedTest
  @ValueSource(strings = {"orca", "byte-strings"})
  void shouldEndWhereTheLogFails(String index) throws Exception {
    try (RunningCommand server = serve(index)) {
      String address = "--server=" + server.found("for clients at (\\S+), pool local:");
      try (DirectoryStream<Path> log =
          Files.newDirectoryStream(directory.resolve("data"), "log-*")) {
        for (Path segment : log) {
          FileChannel.open(segment, StandardOpenOption.WRITE).truncate(0).close();
        }
      }
      assertThat(execute("client", "put", address, "1", "7")).isEqualTo(1);
      assertThat(server.exitCode()).isEqualTo(5);
    }
    assertThat(err.toString()).contains("the log has failed");
  }

  @Test
  void shouldRefuseAFolderThatIsInUseOrOfAnotherKind() throws InterruptedException {
    List<String> other =
        List.of(
            "serve-clients",
            "--listen=127.0.0.1:0",
            "--index=orca",
            "--data=" + directory.resolve("data"));
    try (RunningCommand _ = serve("byte-strings")) {
      assertThat(execute(other)).isEqualTo(1);
      assertThat(err.toString()).contains("in use");
    }
    assertThat(execute(other)).isEqualTo(2);
    assertThat(err.toString()).contains("kind=byte-strings, expected=words");
  }

  @ParameterizedTest
  @ValueSource(strings = {"serve --resp=0", "serve-clients --listen=127.0.0.1:0"})
  void shouldSayWhatToDoAboutAFolder(String command) throws Exception {
    Path folder = directory.resolve("data");
    String serve = command + " --bytes-per-server=64MiB --cache=1MiB --data=" + folder;
    try (RunningCommand server = RunningCommand.start(err, serve.split(" "))) {
      assertThat(server.found("data folder (.*), sync everysec; interrupt")).isNotEmpty();
    }
    Files.writeString(folder.resolve("manifest"), "pando-data 1\n");
    err.getBuffer().setLength(0);
    assertThat(execute(serve.split(" "))).isEqualTo(1);
    assertThat(err.toString().lines())
        .singleElement()
        .asString()
        .contains("damaged", "; restore a backup (pando data restore)");
    String newer = "pando-data 99\n";
    CRC32C sum = new CRC32C();
    sum.update(newer.getBytes(UTF_8));
    Files.writeString(
        folder.resolve("manifest"), newer + "crc32c %08x\n".formatted(sum.getValue()));
    for (String each : List.of(serve, "data check " + folder)) {
      err.getBuffer().setLength(0);
      assertThat(execute(each.split(" "))).isEqualTo(1);
      assertThat(err.toString())
          .contains("a newer Pando wrote the manifest", "; use that version")
          .doesNotContain("restore", "damaged");
    }
    Files.move(folder.resolve("manifest"), folder.resolve("unfinished"));
    err.getBuffer().setLength(0);
    assertThat(execute(serve.split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains("remove the folder, and make it again");
    assertThat(execute((serve + "/unfinished").split(" "))).isEqualTo(1);
    assertThat(err.toString()).contains("it is no folder: folder=" + folder + "/unfinished");
  }

  /** Not even the file that says which process has a folder, whose name others may have. */
  @ParameterizedTest
  @ValueSource(strings = {"serve --resp=0 --data=", "data import - "})
  void shouldNotTouchAFolderOfOthers(String command) throws Exception {
    Path text = Files.writeString(directory.resolve("text"), "of others");
    Path owner = Files.writeString(directory.resolve("owner"), "of others");
    InputStream before = System.in;
    String entries = "{\"format\":\"pando-entries 1\",\"kind\":\"words\"}{\"end\":true}";
    System.setIn(new ByteArrayInputStream(entries.getBytes(UTF_8)));
    try {
      assertThat(execute((command + directory).split(" "))).isEqualTo(2);
    } finally {
      System.setIn(before);
    }
    assertThat(err.toString()).contains("file=text");
    assertThat(owner).hasContent("of others");
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).containsExactlyInAnyOrder(text, owner);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "serve --resp=0 --sync=no, --sync needs --data",
    "serve-clients --listen=127.0.0.1:0 --sync=always, --sync needs --data",
    "serve --resp=0 --data=x --sync=often, no such policy: sync=often",
    "serve --resp=0 --data=x --pool=shm:a, --data is out of range",
    "serve --resp=0 --data=x --server=127.0.0.1:1, --data is out of range",
    "serve-clients --listen=127.0.0.1:0 --data=x --pool=shm:a, --data is out of range"
  })
  void shouldRefuseWhatDoesNotGoTogether(String command, String message) {
    assertThat(execute(command.split(" ", -1))).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }
}
