package pando.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.sim.ClusterModel.Constant;

class ClusterModelTest {
  private static final Path PAGE = Path.of("..", "docs", "simulator.md");
  private static final Pattern ROW = Pattern.compile("\\| (`[a-z`, -]+`) \\| ([0-9., ]+) \\|.*");

  @Test
  void shouldHaveEveryConstantOnItsPage() throws IOException {
    Map<String, Double> page = new LinkedHashMap<>();
    for (String line : Files.readAllLines(PAGE)) {
      var row = ROW.matcher(line);
      if (row.matches()) {
        List<String> names = List.of(row.group(1).replace("`", "").split(", "));
        List<String> defaults = List.of(row.group(2).split(", "));
        assertThat(defaults).as(line).hasSameSizeAs(names);
        for (int i = 0; i < names.size(); i++) {
          page.put(names.get(i), Double.valueOf(defaults.get(i).replace(",", "")));
        }
      }
    }
    Map<String, Double> model = new LinkedHashMap<>();
    for (Constant constant : Constant.values()) {
      model.put(constant.toString(), ClusterModel.defaults().value(constant));
    }
    assertThat(page).containsExactlyEntriesOf(model);
  }

  @Test
  void shouldChangeOneConstant() {
    ClusterModel model = ClusterModel.defaults().with("wire-nanos", 900.5);
    assertThat(model.value(Constant.WIRE_NANOS)).isEqualTo(900.5);
    assertThat(model.picos(Constant.WIRE_NANOS)).isEqualTo(900_500);
    assertThat(model.value(Constant.READ_NANOS)).isEqualTo(450);
    assertThat(ClusterModel.has("wire-nanos")).isTrue();
    assertThat(ClusterModel.has("wireNanos")).isFalse();
    assertThat(ClusterModel.documentation())
        .hasSameSizeAs(Constant.values())
        .containsEntry("wire-nanos", "one way through cards, cable and switch (default 450)");
  }

  @ParameterizedTest
  @CsvSource({
    "wire-nanos, -1",
    "wire-nanos, NaN",
    "timeout-nanos, 1e13",
    "bytes-per-nano, 0",
    "bytes-per-nano, 1e-9",
    "bytes-per-nano, Infinity",
    "parked-max, 1.5",
    "parked-max, -1",
    "atomic-buckets, 0",
    "atomic-buckets, 3",
    "atomic-buckets, 2097152",
    "colour, 1",
  })
  void shouldRefuseWhatIsNotForAConstant(String name, double value) {
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> ClusterModel.defaults().with(name, value))
        .withMessageContaining("name=" + name);
  }
}
