package pando.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import pando.bench.figure.Figure;
import pando.cli.CommandFixture;

final class CompareCommandTest extends CommandFixture {
  @Tag("campaign")
  @Test
  void shouldPrintAPapersNumbersBesideItsOwn() throws IOException {
    Path json = directory.resolve("figure.json");
    int status = execute("compare", "--figure=dex-table2", "--records=100K", "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString()).contains("read-only, Sherman").contains("3.02");
    assertThat(Files.readString(json)).contains("\"paper\":3.02").contains("\"ours\":");

    Path page = directory.resolve("page.html");
    assertThat(execute("compare", "--html=" + page, json.toString())).as(err.toString()).isZero();
    assertThat(Files.readString(page)).contains("3.02 paper").doesNotContain("pictures");
    assertThat(execute("compare", "--pictures=" + directory, json.toString())).isEqualTo(2);
    assertThat(err.toString())
        .isEqualToNormalizingNewlines(
            "pando compare: no results of systems: run ./pando compare --figure systems (see pando"
                + " compare --help)\n");
    assertThat(execute("compare", "--html=" + page, json.toString(), json.toString())).isEqualTo(2);
    assertThat(err.toString()).contains("results of dex-table2 twice: files=" + json);
  }

  @Test
  @Tag("campaign")
  void shouldPrintAColumnForEachMeasureWhereNoPaperGivesNumbers() throws IOException {
    Path json = directory.resolve("systems.json");
    int status = execute("compare", "--figure=systems", "--records=100K", "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString())
        .containsPattern("what +READs +WRITEs +atomics +CALLs +trips +bytes +cached B/record")
        .contains("write-intensive, P-Sherman", "insert-only, ROLEX")
        .doesNotContain("paper  ");
    assertThat(Files.readString(json)).contains("\"paper\":null").contains("pool B/record");
  }

  @Test
  @Tag("campaign")
  void shouldPrintAFigureOfTheProjectsOwn() throws IOException {
    Path json = directory.resolve("orca.json");
    int status = execute("compare", "--figure=orca-table2", "--records=100K", "--json=" + json);
    assertThat(status).as(err.toString()).isZero();
    assertThat(out.toString())
        .containsPattern("what +READs +WRITEs +atomics +CALLs +trips +bytes")
        .containsPattern(
            "read-only, ORCA +0\\.[12]\\d* +0\\.000 +0\\.000 +0\\.000 +0\\.[12]\\d* +[12]\\d\\.")
        .contains("write-intensive, DEX", "write-intensive, XStore-D")
        .doesNotContain("does not lead");
    assertThat(Files.readString(json))
        .contains("read-only, ORCA")
        .contains("\"measure\":\"READs\"");
  }

  @Test
  void shouldNameInItsHelpHowManyRecordsEachFigureLoads() {
    assertThat(execute("compare", "--help")).isZero();
    String help = out.toString().replaceAll("\\s+", " ");
    for (Figure figure : Figure.all()) {
      String records = figure.records() / 1_000 + "K";
      String text = records.replaceFirst("000K$", "M");
      if (figure.name().startsWith("orca")) {
        assertThat(help).as(figure.name()).contains("ORCA's figures: " + text);
      } else if (!text.equals("20M")) {
        assertThat(help).contains(figure.name() + ": " + text);
      }
    }
    assertThat(help).contains("(default: 20M;");
  }
}
