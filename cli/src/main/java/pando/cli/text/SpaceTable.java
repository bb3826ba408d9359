package pando.cli.text;

import java.util.List;
import pando.index.PoolPart;
import pando.index.PoolSpace;

/** Where all bytes of a pool are, as a table. */
public final class SpaceTable {
  private SpaceTable() {}

  /** Returns the lines: each part with its share of the pool, and the sum. */
  public static String of(PoolSpace space) {
    TextTable table = new TextTable(1, List.of("", "count", "bytes", "of the pool", "full"));
    for (PoolPart part : space.parts()) {
      if (part.bytes() != 0) {
        table.add(
            List.of(
                part.name(),
                part.count() == 0 ? "" : Numbers.count(part.count()),
                Numbers.count(part.bytes()),
                share(part.bytes(), space.bytes()),
                share(part.held(), part.room())));
      }
    }
    table.add(List.of("all", "", Numbers.count(space.bytes()), "", ""));
    StringBuilder lines = new StringBuilder(table.toString());
    if (!space.problems().isEmpty()) {
      lines.append(
          String.format(
              "%s nodes could not be followed, as if the index were changing; the first: %s%n",
              Numbers.count(space.problems().size()), space.problems().getFirst()));
    }
    return lines.toString();
  }

  private static String share(long part, long whole) {
    return whole == 0 ? "" : Numbers.percent((double) part / whole);
  }
}
