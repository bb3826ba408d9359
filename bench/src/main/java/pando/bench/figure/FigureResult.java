package pando.bench.figure;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import pando.cli.text.Numbers;

/**
 * What a run of a figure gave.
 *
 * @param figure without parts of its own
 * @param commit of the code that ran, in hexadecimal digits, with {@code -dirty} behind it if it
 *     had been changed; {@code null} if unknown
 */
public record FigureResult(
    Figure figure, long records, long seed, @Nullable String commit, List<FigureLine> lines) {
  private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{7,64}(-dirty)?");

  /** Checks that there are lines, none twice, and that the figure can draw them. */
  public FigureResult {
    if (figure.parts().size() > 1) {
      throw new IllegalArgumentException("results are of its parts: figure=" + figure.name());
    }
    if (records < 1) {
      throw new IllegalArgumentException("records=" + records);
    }
    if (commit != null && !isCommit(commit)) {
      throw new IllegalArgumentException("not the name of a commit: commit=" + commit);
    }
    lines = List.copyOf(lines);
    checkLines(figure, lines);
    figure.plots(lines);
  }

  private static void checkLines(Figure figure, List<FigureLine> lines) {
    if (lines.isEmpty()) {
      throw new IllegalArgumentException("no lines: figure=" + figure.name());
    }
    Set<List<String>> names = new HashSet<>();
    for (FigureLine line : lines) {
      if (!names.add(List.of(line.what(), line.measure()))) {
        throw new IllegalArgumentException(
            "a line twice: what=" + line.what() + ", measure=" + line.measure());
      }
    }
  }

  /** Returns whether a text can be the name of a commit. */
  public static boolean isCommit(String text) {
    return COMMIT.matcher(text).matches();
  }

  /** Returns the command that gives the same again. */
  public String command() {
    return "./pando compare --figure %s --records %s --seed %d"
        .formatted(figure.name(), Numbers.quantity(records), seed);
  }

  /** Returns whether it has fewer records than the figure has by default. */
  public boolean isSmall() {
    return records < figure.records();
  }

  /** Returns ORCA's throughput over the best other system's, where the figure compares the two. */
  public DoubleStream orcaRatios() {
    return lines.stream().filter(Beside::isRatio).mapToDouble(FigureLine::ours);
  }

  /** Returns why a line's numbers differ by more than a third, if that is known. */
  public Optional<String> reason(FigureLine line) {
    return figure.reasons().stream()
        .filter(reason -> reason.isOf(line))
        .findFirst()
        .map(Reason::text);
  }
}
