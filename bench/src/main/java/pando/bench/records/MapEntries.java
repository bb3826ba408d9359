package pando.bench.records;

import java.util.Iterator;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import pando.index.EntrySource;

/** The entries of a map, for a bulk load. */
public final class MapEntries implements EntrySource {
  private final Iterator<Map.Entry<Long, Long>> entries;
  private final int size;
  private Map.@Nullable Entry<Long, Long> entry;

  /** Starts before the first entry of a map, which must not change meanwhile. */
  public MapEntries(SortedMap<Long, Long> map) {
    entries = map.entrySet().iterator();
    size = map.size();
  }

  @Override
  public boolean next() {
    entry = entries.hasNext() ? entries.next() : null;
    return entry != null;
  }

  @Override
  public long key() {
    return entry().getKey();
  }

  @Override
  public long value() {
    return entry().getValue();
  }

  private Map.Entry<Long, Long> entry() {
    if (entry == null) {
      throw new IllegalStateException("no entry: size=" + size);
    }
    return entry;
  }
}
