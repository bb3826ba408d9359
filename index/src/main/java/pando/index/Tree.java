package pando.index;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;

/**
 * What a walk through a whole tree in the pool found.
 *
 * @param entries of all leaves that could be read
 * @param nodes that were reached
 * @param bytes of the pool that they take
 * @param strays nodes that are not where their system wants them: on another memory server than
 *     those around them, or unknown to the node above
 * @param problems what is wrong; empty for a sound tree
 */
public record Tree(
    SortedMap<Long, Long> entries, int nodes, long bytes, int strays, List<String> problems) {
  /** Keeps the problems as they are. */
  public Tree {
    entries = Collections.unmodifiableSortedMap(entries);
    problems = List.copyOf(problems);
  }
}
