package pando.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ConfigFileTest extends CommandFixture {
  private String file(String text) throws IOException {
    Path file = Files.writeString(directory.resolve("config"), text);
    return "--config=" + file;
  }

  @ParameterizedTest
  @CsvSource({
    "'number = 3\nshape = round', 'unknown key: key=shape: --config=', 'line=2'",
    "'number = 3\n\n# again\nnumber=4', 'key twice: key=number', 'line=4'",
    "'number', 'has no KEY = VALUE', 'line=1'",
    "'config = other', 'unknown key: key=config', 'line=1'",
    "'help = true', 'unknown key: key=help', 'line=1'",
    "'number = x', '--number', 'is not an int'",
  })
  void shouldRefuseWhatMakesNoSense(String text, String problem, String more) throws IOException {
    assertThat(execute("compute-server", file(text))).isEqualTo(2);
    assertThat(err.toString()).contains(problem).contains(more);
  }

  @Test
  void shouldSayThatAFileIsNotThere() {
    assertThat(execute("compute-server", "--config", directory + "/none")).isEqualTo(2);
    assertThat(err.toString()).contains("cannot be read: NoSuchFileException");
  }

  @Test
  void shouldLetTheCommandLineGoBefore() throws IOException {
    String config =
        file("size = 1MiB\nlisten = 127.0.0.1:0\ncluster = 127.0.0.1:1/a\nnumber = 99\n");
    // All that is needed is in the file; the number of the command line is looked at.
    assertThat(execute("memory-server", config, "--number=x")).isEqualTo(2);
    assertThat(err.toString()).contains("'x' is not an int");
  }
}
