package pando.index.load;

import java.util.function.BooleanSupplier;
import pando.fabric.VerbCounters;
import pando.index.Partitioning;

/** Builds an index from entries in ascending order of their keys. */
public interface Loader extends AutoCloseable {
  /** Returns the number of entries that a leaf gets. */
  int perLeaf();

  /** Returns how many threads can add entries at the same time. Default: one. */
  default int threads() {
    return 1;
  }

  /**
   * Begins a part whose entries another thread adds, while this one adds those before it. Called
   * before {@link #add}; {@link #finish} and {@link #abandon} are called after the last thread has
   * ended.
   *
   * @param low least key of its first leaf: above that of the part before by two or more, and below
   *     the greatest key that there is. All entries of the parts before have lesser keys
   */
  default Part part(long low) {
    throw new UnsupportedOperationException("one thread loads: low=" + low);
  }

  /** What receives the entries of one thread. */
  @FunctionalInterface
  interface Part {
    /** Adds an entry, whose key is above all before it. */
    void add(long key, long value);
  }

  /**
   * Starts a leaf that covers the keys from {@code low} on; the first leaf covers all keys below,
   * too.
   */
  void startLeaf(long low);

  /** Adds an entry, whose key is above all before it. */
  void add(long key, long value);

  /** Writes the nodes that are still open; returns the root pointer. */
  long finish();

  /**
   * Called after {@link #finish}, with the partitions that the index is going to have. Their bounds
   * are fences of leaves. Default: there is one tree for all partitions, which is complete.
   *
   * @param root what {@link #finish} has returned
   * @return the root pointer
   */
  default long divide(long root, Partitioning partitioning) {
    return root;
  }

  /**
   * Returns a fence below which about the share {@code part / parts} of all leaves lies. If there
   * are at least {@code parts} leaves, different parts have different fences. Called after {@link
   * #finish}.
   */
  long fence(int part, int parts);

  /**
   * Frees every allocated node after a failure. If that fails as well, the exception is added to
   * {@code failure} as suppressed.
   */
  void abandon(Throwable failure);

  /**
   * Gives back all that was allocated, and goes on where that fails for one.
   *
   * @param failure gets the first such failure as suppressed; later ones are left out
   * @param left returns whether there is more to give back
   * @param giveBack gives one back, and must not leave it to be given back again even if it throws
   */
  static void giveBackAll(Throwable failure, BooleanSupplier left, Runnable giveBack) {
    boolean isFirst = true;
    while (left.getAsBoolean()) {
      try {
        giveBack.run();
      } catch (RuntimeException | Error e) {
        if (isFirst) {
          failure.addSuppressed(e);
        }
        isFirst = false;
      }
    }
  }

  /** Returns the verbs issued so far. */
  VerbCounters verbs();

  @Override
  void close();
}
