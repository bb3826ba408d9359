package pando.bench.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import pando.bench.figure.Figure;
import pando.bench.figure.FigureLine;
import pando.bench.figure.FigureResult;
import pando.bench.report.FigureJson;

final class FigurePageTest {
  private static final FigureResult SHERMAN =
      result(
          "sherman-10",
          "abcdef012345",
          line("write-intensive, FG+", "Mops", 0.34, 0.42),
          line("write-intensive, FG+", "p99 ms", 19.89, 10.2),
          line("write-intensive, + combine", "Mops", 1.1458, 0.6),
          line("write-only, Sherman over FG+", "x", 24.7, 1.0 / 3));
  private static final FigureResult CACHES =
      result(
          "orca-caches",
          null,
          line("read-only, 1 %, beside DEX", "ORCA Mops", FigureLine.NOT_GIVEN, 91),
          line("read-only, 1 %, beside DEX", "DEX Mops", FigureLine.NOT_GIVEN, 36.6),
          line("read-only, 1 %, beside DEX", "best Mops", FigureLine.NOT_GIVEN, 36.6),
          line("read-only, 1 %, beside DEX", "x", FigureLine.NOT_GIVEN, 91 / 36.6),
          line("read-only, 8 %, beside DEX", "ORCA Mops", FigureLine.NOT_GIVEN, 170.1),
          line("read-only, 8 %, beside DEX", "DEX Mops", FigureLine.NOT_GIVEN, 77.25),
          line("read-only, 8 %, beside DEX", "best Mops", FigureLine.NOT_GIVEN, 77.25),
          line("read-only, 8 %, beside DEX", "x", FigureLine.NOT_GIVEN, 0.9),
          line("read-only, 8 %, beside DEX", "ORCA bytes", FigureLine.NOT_GIVEN, 0));

  private static FigureResult result(String figure, @Nullable String commit, FigureLine... lines) {
    return new FigureResult(
        Figure.named(figure).orElseThrow(), 1_000_000, 7, commit, List.of(lines));
  }

  private static FigureLine line(String what, String measure, double paper, double ours) {
    return new FigureLine(what, measure, paper, ours);
  }

  /** Reads a page as XML, which is stricter than HTML. */
  static Document parsed(String page)
      throws ParserConfigurationException, IOException, SAXException {
    DocumentBuilder builder = DocumentBuilderFactory.newDefaultInstance().newDocumentBuilder();
    return builder.parse(new InputSource(new StringReader(page)));
  }

  static List<Element> elements(Document document, String name) {
    NodeList found = document.getElementsByTagName(name);
    return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i)).toList();
  }

  @Test
  void shouldLeadNowhereElseAndRunNothing() throws Exception {
    String page = FigurePage.of(List.of(SHERMAN, CACHES));
    Document document = parsed(page);
    assertThat(page).startsWith("<!DOCTYPE html>\n<html lang=\"en\">");
    assertThat(page).doesNotContain("http:", "https:", "//", "@import", "url(", "<script", "src=");
    assertThat(elements(document, "a"))
        .extracting(link -> link.getAttribute("href"))
        .isNotEmpty()
        .allMatch(address -> address.startsWith("#") || address.startsWith("data:text/csv;"));
    assertThat(elements(document, "link")).isEmpty();
    assertThat(elements(document, "meta"))
        .extracting(meta -> meta.getAttribute("content"))
        .contains("default-src 'none'; style-src 'unsafe-inline'");
  }

  @Test
  void shouldHaveTheNumbersOfTheResults() throws Exception {
    Document document = parsed(FigurePage.of(List.of(SHERMAN, CACHES)));
    List<List<String>> tables =
        elements(document, "a").stream()
            .map(link -> link.getAttribute("href"))
            .filter(address -> address.startsWith("data:"))
            .map(FigurePageTest::csv)
            .toList();
    assertThat(tables).hasSize(2);
    assertThat(tables.get(1))
        .containsExactly(
            "what,measure,paper,ours,ours/paper",
            "\"write-intensive, FG+\",\"Mops\",0.34,0.42," + 0.42 / 0.34,
            "\"write-intensive, FG+\",\"p99 ms\",19.89,10.2," + 10.2 / 19.89,
            "\"write-intensive, + combine\",\"Mops\",1.1458,0.6," + 0.6 / 1.1458,
            "\"write-only, Sherman over FG+\",\"x\",24.7," + 1.0 / 3 + "," + 1.0 / 3 / 24.7);
    assertThat(tables.get(0)).hasSize(1 + CACHES.lines().size());
    assertThat(rows(document))
        .contains("write-intensive, FG+|0.34|0.42|1.2353", "write-intensive, FG+|19.89|10.2|0.5128")
        .contains("cache of each compute server|ORCA|DEX", "1 %|91.0|36.6", "8 %|170.1|77.25")
        .contains("cache of each compute server|ORCA over DEX", "8 %|0.9");
    assertThat(elements(document, "text"))
        .extracting(Element::getTextContent)
        .contains("0.34 paper", "0.42 (1.24 x)", "10.2 (0.51 x)", "0.333 (0.01 x)");
  }

  private static List<String> csv(String address) {
    String encoded = address.substring(address.indexOf(',') + 1);
    return new String(Base64.getDecoder().decode(encoded), UTF_8).lines().toList();
  }

  private static List<String> rows(Document document) {
    List<String> rows = new ArrayList<>();
    for (Element row : elements(document, "tr")) {
      NodeList cells = row.getChildNodes();
      rows.add(
          String.join(
              "|",
              IntStream.range(0, cells.getLength())
                  .mapToObj(i -> cells.item(i).getTextContent())
                  .filter(text -> !text.equals("\n"))
                  .toList()));
    }
    return rows;
  }

  @Test
  void shouldSayWhyAndHowAgain() throws Exception {
    Document document = parsed(FigurePage.of(List.of(SHERMAN, CACHES)));
    assertThat(elements(document, "code"))
        .extracting(Element::getTextContent)
        .startsWith(
            "./pando compare --figure orca-caches --records 1M --seed 7",
            "./pando compare --figure sherman-10 --records 1M --seed 7")
        .contains("./pando compare --figure NAME --json NAME.json");
    assertThat(elements(document, "li"))
        .extracting(Element::getTextContent)
        .anyMatch(text ->
            text.startsWith("The first step is not reproduced")
                && text.endsWith("write-intensive, + combine: Mops, 0.52 times the paper's"))
        .anyMatch(text ->
            text.startsWith(
                "The run is too small to compare: 1,000,000 records, where the figure has"
                    + " 20,000,000 and the paper more. write-intensive, FG+: p99 ms, 0.51"));
    assertThat(elements(document, "p"))
        .extracting(Element::getTextContent)
        .anyMatch(text -> text.startsWith("1,000,000 records, seed 7, commit abcdef012345"))
        .anyMatch(text -> text.startsWith("1,000,000 records, seed 7, commit unknown"))
        .contains(
            "ORCA does not lead in 1 of 2 rows: read-only, 8 %, beside DEX (0.90 x). Left out, as"
                + " caches do not hold ORCA's directory: 2 %, 4 %, 16 %, 32 %, 64 %.");
  }

  @Test
  void shouldBeginWithThreeSentencesAndOrca() throws Exception {
    Document document = parsed(FigurePage.of(List.of(SHERMAN, CACHES)));
    List<String> paragraphs =
        elements(document, "p").stream().limit(3).map(Element::getTextContent).toList();
    assertThat(paragraphs).allMatch(text -> text.endsWith(".") && !text.contains(". "));
    assertThat(paragraphs.get(0)).startsWith("This page compares ORCA");
    assertThat(paragraphs.get(1)).startsWith("Solid bars are Pando's");
    assertThat(paragraphs.get(2))
        .isEqualTo(
            "ORCA is the fastest in 1 of 2 comparisons, with 1.69 times the throughput of the best"
                + " other system in the median; 1 of 4 numbers of the papers came out within a"
                + " third.");
    assertThat(elements(document, "li"))
        .first()
        .extracting(Element::getTextContent)
        .isEqualTo("ORCA");
    assertThat(elements(document, "section"))
        .first()
        .extracting(section -> section.getAttribute("id"))
        .isEqualTo("orca-caches");
    assertThat(elements(parsed(FigurePage.of(List.of())), "p").get(2).getTextContent())
        .isEqualTo("The results here have no number to compare.");
  }

  @Test
  void shouldBeTheSameForTheSameResults() {
    String page = FigurePage.of(List.of(SHERMAN, CACHES));
    assertThat(FigurePage.of(List.of(CACHES, SHERMAN))).isEqualTo(page);
    assertThat(FigurePage.of(List.of(SHERMAN))).isNotEqualTo(page);
  }

  @Test
  void shouldShowTheResultsThatAreKept() throws Exception {
    List<FigureResult> kept = new ArrayList<>();
    try (Stream<Path> files = Files.list(Path.of("../docs/results"))) {
      for (Path file : files.sorted().toList()) {
        kept.addAll(FigureJson.read(file));
      }
    }
    String page = FigurePage.of(kept);
    assertThat(elements(parsed(page), "figure")).hasSizeGreaterThan(kept.size());
    assertThat(page).doesNotContain("http:", "https:", "commit unknown", "-dirty");
    assertThat(elements(parsed(page), "section"))
        .extracting(section -> section.getAttribute("id"))
        .containsAll(kept.stream().map(result -> result.figure().name()).toList());
  }

  @Test
  void shouldListWhatWasNotRun() throws Exception {
    Document document = parsed(FigurePage.of(List.of(SHERMAN, CACHES)));
    assertThat(elements(document, "p").getLast().getTextContent())
        .isEqualTo(
            "Not in these results: "
                + Figure.all().stream()
                    .map(Figure::name)
                    .filter(name -> !List.of("orca", "orca-caches", "sherman-10").contains(name))
                    .collect(Collectors.joining(", "))
                + ". Run each by ./pando compare --figure NAME --json NAME.json.");
    assertThat(elements(parsed(FigurePage.of(List.of())), "figure")).isEmpty();
  }

  @Test
  void shouldSayThatAReasonIsUnknownOnlyWhereTheRunIsLarge() throws Exception {
    FigureResult large =
        new FigureResult(
            SHERMAN.figure(), SHERMAN.figure().records(), 7, SHERMAN.commit(), SHERMAN.lines());
    assertThat(elements(parsed(FigurePage.of(List.of(large))), "li"))
        .extracting(Element::getTextContent)
        .anyMatch(text -> text.startsWith("Why is not known. write-intensive, FG+: p99 ms, 0.51"))
        .noneMatch(text -> text.contains("too small"));
  }

  @Test
  void shouldNameMeasuresThatAreZeroInsteadOfDrawingThem() throws Exception {
    FigureResult result =
        result(
            "systems",
            null,
            line("read-only, ORCA", "READs", FigureLine.NOT_GIVEN, 0.2),
            line("read-only, ORCA", "atomics", FigureLine.NOT_GIVEN, 0),
            line("read-only, ORCA", "CALLs", FigureLine.NOT_GIVEN, 0));
    Document document = parsed(FigurePage.of(List.of(result)));
    assertThat(elements(document, "figcaption"))
        .extracting(Element::getTextContent)
        .containsExactly("READs");
    assertThat(elements(document, "p"))
        .extracting(Element::getTextContent)
        .contains("Zero throughout: atomics, CALLs.");
  }

  /** Bars and curves of nothing but zeros, of one number, and of huge ones. */
  @Test
  void shouldDrawAnyNumbers() throws Exception {
    for (double number : new double[] {0, 1e-9, 0.1, 1, 1e12}) {
      FigureResult bars =
          result(
              "dex-table2",
              null,
              line("a, DEX", "READs", number, number),
              line("b", "x", 1e12, number),
              line("c", "x", 1e-9, number));
      FigureResult curves =
          result("rolex-scaling", null, line("a, ROLEX", "threads=1", Double.NaN, number));
      String page = FigurePage.of(List.of(bars, curves));
      assertThat(elements(parsed(page), "svg")).isNotEmpty();
      assertThat(page).doesNotContain("NaN", "Infinity", "=\"-", "1E");
    }
  }
}
