package pando.index.pool;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import pando.fabric.GlobalAddress;
import pando.index.PoolPart;
import pando.index.Tree;

/** What a walk through an index has found so far. Not thread-safe. */
public final class Findings {
  /** Counts of the nodes of one kind. */
  private static final class Kind {
    long nodes;
    long bytes;
    long held;
    long room;

    void add(long moreBytes, int moreHeld, int moreRoom) {
      nodes++;
      bytes += moreBytes;
      held += moreHeld;
      room += moreRoom;
    }

    PoolPart part(String name) {
      return new PoolPart(name, nodes, bytes, held, room);
    }
  }

  private final boolean keepsEntries;
  private final Map<String, Kind> kinds = new LinkedHashMap<>();
  private final NavigableMap<Integer, Kind> levels = new TreeMap<>();
  private final Set<Long> addresses = new HashSet<>();
  private final TreeMap<Long, Long> entries = new TreeMap<>();
  private final List<String> problems = new ArrayList<>();
  private int strays;

  /**
   * Begins a walk.
   *
   * @param keepsEntries whether entries are kept, or not even counted
   */
  public Findings(boolean keepsEntries) {
    this.keepsEntries = keepsEntries;
  }

  /** Adds the address of a node; returns whether it was not reached before. */
  public boolean reach(long address) {
    return addresses.add(address);
  }

  /**
   * Counts a node of a tree.
   *
   * @param held its entries, or its children
   * @param room how many it can have
   */
  public void node(int level, long bytes, int held, int room) {
    levels.computeIfAbsent(level, _ -> new Kind()).add(bytes, held, room);
  }

  /** Counts a node of another kind. */
  public void node(String kind, long bytes, int held, int room) {
    kinds.computeIfAbsent(kind, _ -> new Kind()).add(bytes, held, room);
  }

  /** Adds an entry; returns {@code false} if its key is known to be there already. */
  public boolean entry(long key, long value) {
    return !keepsEntries || entries.put(key, value) == null;
  }

  /** Counts a node in an unwanted place. */
  public void stray() {
    strays++;
  }

  /** Records a problem. */
  public void problem(String what) {
    problems.add(what);
  }

  /** Records a problem of a node. */
  public void problem(long address, String what) {
    problem("node " + GlobalAddress.toString(address) + ": " + what);
  }

  /** Returns all that was found. */
  public Tree tree() {
    List<PoolPart> parts = new ArrayList<>();
    kinds.forEach((kind, counts) -> parts.add(counts.part(kind)));
    levels
        .descendingMap()
        .forEach((level, counts) ->
            parts.add(counts.part(level == 0 ? "leaves" : "nodes of level " + level)));
    return new Tree(entries, parts, strays, problems);
  }
}
