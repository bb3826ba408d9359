package pando.index;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** Entries in parts, for threads that load them, or for one that reads them all. */
public final class SplitEntries implements EntrySource {
  private final List<? extends EntrySource> parts;
  private int current;
  private boolean isSplit;

  /** Creates a source that splits into these parts. */
  public SplitEntries(List<? extends EntrySource> parts) {
    this.parts = parts;
  }

  /** Returns the entries of a map in so many parts, some of which are small or empty. */
  public static SplitEntries of(NavigableMap<Long, Long> map, int parts, SplittableRandom random) {
    List<Long> keys = new ArrayList<>(map.keySet());
    int[] cuts =
        random
            .ints(parts - 1L, 0, keys.size() + 1)
            .map(cut -> random.nextInt(4) == 0 ? Math.min(cut, 2) : cut)
            .sorted()
            .toArray();
    List<EntrySource> all = new ArrayList<>();
    int from = 0;
    for (int part = 0; part < parts; part++) {
      int to = part < cuts.length ? cuts[part] : keys.size();
      NavigableMap<Long, Long> its = new TreeMap<>();
      keys.subList(from, to).forEach(key -> its.put(key, map.get(key)));
      all.add(Entries.of(its));
      from = to;
    }
    return new SplitEntries(all);
  }

  @Override
  public List<? extends EntrySource> split(int threads) {
    if (isSplit || current > 0) {
      throw new IllegalStateException("split too late");
    }
    isSplit = true;
    return parts;
  }

  @Override
  public boolean next() {
    if (isSplit) {
      throw new IllegalStateException("its parts are read");
    }
    while (current < parts.size() && !parts.get(current).next()) {
      current++;
    }
    return current < parts.size();
  }

  @Override
  public long key() {
    return parts.get(current).key();
  }

  @Override
  public long value() {
    return parts.get(current).value();
  }
}
