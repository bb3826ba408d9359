package pando.index;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;

/**
 * The result of a walk through a whole tree in the pool.
 *
 * @param entries of all leaves that could be read; empty if they were not wanted
 * @param parts the nodes that were reached, by their kind
 * @param strays nodes in an unwanted place: on another memory server than the nodes around them, or
 *     reached only through a sibling, without a pointer in the level above
 * @param problems the problems found, one text each; empty for a sound tree
 */
public record Tree(
    SortedMap<Long, Long> entries, List<PoolPart> parts, int strays, List<String> problems) {
  /** Keeps copies of the lists. */
  public Tree {
    entries = Collections.unmodifiableSortedMap(entries);
    parts = List.copyOf(parts);
    problems = List.copyOf(problems);
  }

  /** Returns the number of nodes that were reached. */
  public long nodes() {
    return parts.stream().mapToLong(PoolPart::count).sum();
  }

  /** Returns the bytes of the pool that they take. */
  public long bytes() {
    return parts.stream().mapToLong(PoolPart::bytes).sum();
  }
}
