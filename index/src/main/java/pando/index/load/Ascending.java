package pando.index.load;

import java.util.ArrayList;
import java.util.List;
import pando.index.EntrySource;

/**
 * Entries that one thread loads: those of some parts of a source, one part behind the other. Checks
 * that their keys ascend.
 */
final class Ascending implements EntrySource {
  private final List<EntrySource> parts = new ArrayList<>();

  /** Number of the first part. */
  private final int number;

  /** Greatest key that the entries can have, as the next thread begins above it. */
  private long most = Long.MAX_VALUE;

  private int current;
  private boolean isAhead;
  private long first;
  private long last;
  private long count;

  private Ascending(int number, EntrySource part) {
    this.number = number;
    parts.add(part);
  }

  /**
   * Divides parts among threads. Reads the first entry of each part.
   *
   * @return what each thread loads, in the order of keys; nobody has no entry
   * @throws IllegalArgumentException if a part does not begin above the one before it
   */
  static List<Ascending> divide(List<? extends EntrySource> parts, int threads) {
    List<Ascending> all = new ArrayList<>();
    for (int part = 0; part < parts.size(); part++) {
      Ascending its = new Ascending(part, parts.get(part));
      if (its.hasFirst()) {
        all.add(its);
      }
    }
    List<Ascending> divided = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      Ascending its = all.get(i);
      if (i > 0) {
        its.checkBehind(all.get(i - 1));
      }
      boolean isNext = i == 0 || share(i, all.size(), threads) > share(i - 1, all.size(), threads);
      if (i == 0 || (isNext && its.canFollow(divided.getLast()))) {
        divided.add(its);
      } else {
        divided.getLast().parts.add(its);
      }
    }
    for (int i = 1; i < divided.size(); i++) {
      divided.get(i - 1).most = divided.get(i).first - 1;
    }
    return divided;
  }

  private static int share(int part, int parts, int threads) {
    return (int) ((long) part * threads / parts);
  }

  private boolean hasFirst() {
    isAhead = next();
    first = last;
    return isAhead;
  }

  private void checkBehind(Ascending before) {
    if (first <= before.first) {
      throw new IllegalArgumentException(
          "parts must ascend: part=%d, first=%d, before=%d, its first=%d"
              .formatted(number, first, before.number, before.first));
    }
  }

  /** Returns whether a leaf can begin here, and one before it: a leaf covers two keys or more. */
  private boolean canFollow(Ascending before) {
    return first - 1 > before.first && first < Long.MAX_VALUE;
  }

  /** Returns the least key. */
  long first() {
    return first;
  }

  /** Returns how many entries were read. */
  long count() {
    return count;
  }

  @Override
  public boolean next() {
    if (isAhead) {
      isAhead = false;
      return true;
    }
    while (!parts.get(current).next()) {
      if (current + 1 == parts.size()) {
        return false;
      }
      current++;
    }
    check(key());
    return true;
  }

  private void check(long key) {
    if (count > 0 && key <= last) {
      throw new IllegalArgumentException(
          "keys must ascend: entry=" + count + ", key=" + key + ", before=" + last);
    }
    if (key > most) {
      throw new IllegalArgumentException(
          "keys must ascend: entry=%d, key=%d, first of the next part=%d"
              .formatted(count, key, most + 1));
    }
    last = key;
    count++;
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
