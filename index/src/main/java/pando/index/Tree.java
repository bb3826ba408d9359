package pando.index;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;

/**
 * The result of a walk through a whole tree in the pool.
 *
 * @param entries of all leaves that could be read
 * @param nodes that were reached
 * @param bytes of the pool that they take
 * @param strays nodes in an unwanted place: on another memory server than the nodes around them, or
 *     reached only through a sibling, without a pointer in the level above
 * @param problems the problems found, one text each; empty for a sound tree
 */
public record Tree(
    SortedMap<Long, Long> entries, int nodes, long bytes, int strays, List<String> problems) {
  /** Keeps a copy of the problems. */
  public Tree {
    entries = Collections.unmodifiableSortedMap(entries);
    problems = List.copyOf(problems);
  }
}
