package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import pando.fabric.memory.KeyOrder;

/**
 * Several streams as one. Of entries with the same key the one of the newest source counts.
 *
 * <p>Between calls all sources stand at different keys, and they are in the order of these keys;
 * the first one has the current entry. A source that moves goes down this order to where its key
 * belongs. Where it meets its key, the older of the two moves on at once. So a base whose next keys
 * are below those of all others takes one comparison of two words an entry.
 */
final class MergedEntries implements EntryStream {
  private final List<EntryStream> oldestFirst;
  private final boolean withRemovals;

  /** Sources that have an entry, ascending by its key. */
  private final RankedSource[] order;

  private int live;
  private boolean isStarted;

  /**
   * Creates a merge, which closes its sources.
   *
   * @param oldestFirst the sources
   * @param withRemovals whether removals are entries of the merge. Only where nothing is older than
   *     all sources they may be left out
   */
  MergedEntries(List<? extends EntryStream> oldestFirst, boolean withRemovals) {
    this.oldestFirst = List.copyOf(oldestFirst);
    this.withRemovals = withRemovals;
    this.order = new RankedSource[oldestFirst.size()];
  }

  @Override
  public boolean next() throws IOException {
    do {
      if (!isStarted) {
        start();
      } else if (live > 0) {
        move(order[0], 0);
      }
    } while (live > 0 && !withRemovals && isRemoved());
    return live > 0;
  }

  private void start() throws IOException {
    isStarted = true;
    for (int age = 0; age < oldestFirst.size(); age++) {
      System.arraycopy(order, 0, order, 1, live);
      live++;
      move(new RankedSource(oldestFirst.get(age), age), 0);
    }
  }

  /**
   * Moves a source to its next entry, and puts it where this belongs.
   *
   * @param free a place in the order that no other source has, before that of the entry
   */
  private void move(RankedSource source, int free) throws IOException {
    int to = free;
    RankedSource moved = source;
    boolean hasEntry = moved.next();
    while (hasEntry && to + 1 < live) {
      RankedSource rival = order[to + 1];
      int compared = moved.compareTo(rival);
      if (compared < 0) {
        break;
      }
      boolean isNewer = compared == 0 && moved.age > rival.age;
      order[to] = isNewer ? moved : rival;
      to++;
      if (compared == 0) {
        moved = isNewer ? rival : moved;
        hasEntry = moved.next();
      }
    }
    if (hasEntry) {
      order[to] = moved;
    } else {
      live--;
      System.arraycopy(order, to + 1, order, to, live - to);
    }
  }

  @Override
  public MemorySegment key() {
    return order[0].stream.key();
  }

  @Override
  public boolean isRemoved() {
    return order[0].stream.isRemoved();
  }

  @Override
  public MemorySegment value() {
    return order[0].stream.value();
  }

  @Override
  public void close() {
    closeFrom(0);
  }

  /** Closes all sources, whatever happens to some of them. */
  private void closeFrom(int first) {
    if (first < oldestFirst.size()) {
      try (EntryStream _ = oldestFirst.get(first)) {
        closeFrom(first + 1);
      }
    }
  }

  /** A stream with the first bytes of its current key. */
  private static final class RankedSource {
    private final EntryStream stream;
    private final int age;
    private long head;

    RankedSource(EntryStream stream, int age) {
      this.stream = stream;
      this.age = age;
    }

    boolean next() throws IOException {
      if (!stream.next()) {
        return false;
      }
      MemorySegment key = stream.key();
      head = KeyOrder.head(key, 0, key.byteSize());
      return true;
    }

    int compareTo(RankedSource other) {
      return head == other.head
          ? KeyOrder.compare(stream.key(), other.stream.key())
          : Long.compareUnsigned(head, other.head);
    }
  }
}
