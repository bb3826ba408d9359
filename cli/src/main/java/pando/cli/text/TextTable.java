package pando.cli.text;

import java.util.ArrayList;
import java.util.List;

/** A table in plain text: the first columns to the left, those of numbers to the right. */
public final class TextTable {
  private static final String GAP = "  ";

  private final int leftColumns;
  private final List<List<String>> rows = new ArrayList<>();

  /**
   * Creates a table.
   *
   * @param leftColumns columns that are set flush left
   * @param headers one for each column
   */
  public TextTable(int leftColumns, List<String> headers) {
    this.leftColumns = leftColumns;
    rows.add(List.copyOf(headers));
  }

  /** Adds a row, with a cell for each header. */
  public void add(List<String> cells) {
    if (cells.size() != rows.getFirst().size()) {
      throw new IllegalArgumentException("cells=" + cells + ", headers=" + rows.getFirst());
    }
    rows.add(List.copyOf(cells));
  }

  /** Returns the lines, each with its line end. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < row.size(); column++) {
        String cell = row.get(column);
        String space = " ".repeat(width(column) - cell.length());
        line.append(GAP).append(column < leftColumns ? cell + space : space + cell);
      }
      text.append(line.toString().stripTrailing()).append(System.lineSeparator());
    }
    return text.toString();
  }

  private int width(int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
  }
}
