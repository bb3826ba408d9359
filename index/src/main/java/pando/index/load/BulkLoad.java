package pando.index.load;

import java.util.ArrayList;
import java.util.List;
import pando.index.EntrySource;
import pando.index.Partitioning;
import pando.index.pool.Catalogue;

/** A bulk load: one pass over the entries, by one thread or several. */
public final class BulkLoad {
  private final Loader loader;
  private final List<Ascending> parts;
  private final Partitioning before;

  /** The part that is being read. */
  private int current;

  private BulkLoad(Loader loader, List<Ascending> parts, Partitioning before) {
    this.loader = loader;
    this.parts = parts;
    this.before = before;
  }

  /**
   * An index that was loaded, and partitions whose bounds are fences of its leaves.
   *
   * @param root pointer to its root
   * @param partitioning with about equal numbers of leaves
   * @param entries that were loaded
   */
  public record Built(long root, Partitioning partitioning, long entries) {}

  /**
   * Loads an index. After a failure, every allocated node is freed.
   *
   * @param before the present partitions; the same compute servers get the new ones
   * @throws IllegalArgumentException if a key is not above the one before it
   */
  public static Built run(Loader loader, EntrySource entries, Partitioning before) {
    try {
      int threads = loader.threads();
      List<? extends EntrySource> parts = threads == 1 ? List.of(entries) : entries.split(threads);
      return new BulkLoad(loader, Ascending.divide(parts, threads), before).run();
    } catch (Throwable e) {
      loader.abandon(e);
      throw e;
    }
  }

  /**
   * Loads an index in place of one without entries, which is in place again after a failure.
   *
   * @param catalogue of the pool; the caller holds the lock of the partition table
   * @param root pointer to the root of the index that is replaced
   */
  public static Built replace(
      Loader loader, EntrySource entries, Partitioning before, Catalogue catalogue, long root) {
    Built built = run(loader, entries, before);
    try {
      catalogue.swap(root, built.root(), built.partitioning());
    } catch (Throwable e) {
      undo(loader, before, catalogue, root, e);
      throw e;
    }
    return built;
  }

  /** Other failures join the first. */
  private static void undo(
      Loader loader, Partitioning before, Catalogue catalogue, long root, Throwable failure) {
    try {
      catalogue.begin(root, before);
    } catch (Throwable e) {
      // Nobody knows which index is in place: both keep their nodes.
      failure.addSuppressed(e);
      return;
    }
    loader.abandon(failure);
  }

  /**
   * Makes an index without entries; returns its root. After a failure, every allocated node is
   * freed.
   *
   * @param leaves has a range for each leaf
   * @param partitioning its bounds are among those of the leaves
   */
  public static long empty(Loader loader, Partitioning leaves, Partitioning partitioning) {
    try {
      for (long low : leaves.lows()) {
        loader.startLeaf(low);
      }
      return loader.divide(loader.finish(), partitioning);
    } catch (Throwable e) {
      loader.abandon(e);
      throw e;
    }
  }

  private Built run() {
    int head = before.servers() * loader.perLeaf();
    long[] keys = new long[head];
    long[] values = new long[head];
    int held = 0;
    while (held < head && next()) {
      keys[held] = parts.get(current).key();
      values[held++] = parts.get(current).value();
    }
    return held < head ? loadFew(keys, values, held) : loadMany(keys, values);
  }

  private boolean next() {
    while (current < parts.size()) {
      if (parts.get(current).next()) {
        return true;
      }
      current++;
    }
    return false;
  }

  /** Loads too few entries for a leaf in each partition: the partitions stay as they are. */
  private Built loadFew(long[] keys, long[] values, int count) {
    int added = 0;
    for (int range = 0; range < before.servers(); range++) {
      loader.startLeaf(before.lowOfRange(range));
      while (added < count && keys[added] <= before.highOfRange(range)) {
        loader.add(keys[added], values[added++]);
      }
    }
    return built(loader.finish(), before.lows());
  }

  private Built loadMany(long[] keys, long[] values) {
    List<Runnable> steps = new ArrayList<>();
    Together together = new Together();
    Ascending first = parts.get(current);
    steps.add(() -> {
      for (int i = 0; i < keys.length; i++) {
        loader.add(keys[i], values[i]);
      }
      addAll(first, loader::add, together);
    });
    for (Ascending entries : parts.subList(current + 1, parts.size())) {
      Loader.Part part = loader.part(entries.first());
      steps.add(() -> addAll(entries, part, together));
    }
    together.run("pando-load", steps);
    long root = loader.finish();
    long[] lows = new long[before.servers()];
    for (int range = 0; range < lows.length; range++) {
      lows[range] = loader.fence(range, lows.length);
    }
    return built(root, lows);
  }

  private static void addAll(Ascending entries, Loader.Part part, Together together) {
    while (!together.hasFailed() && entries.next()) {
      part.add(entries.key(), entries.value());
    }
  }

  private Built built(long root, long[] lows) {
    Partitioning partitioning = before.withLows(lows);
    long loaded = parts.stream().mapToLong(Ascending::count).sum();
    return new Built(loader.divide(root, partitioning), partitioning, loaded);
  }
}
