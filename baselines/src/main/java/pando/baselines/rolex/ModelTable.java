package pando.baselines.rolex;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The models of the whole index, as a compute server knows them (ROLEX, one-sided indexing: models
 * and tables are cached at every compute server).
 *
 * <p>Any model may be old. A session that finds a retired leaf reads the model's page again and
 * {@linkplain #install installs} it. So a compute server learns of a retrained model when it first
 * needs it. Thread-safe; a lookup takes no lock.
 */
final class ModelTable {
  /** Pages in the order of keys, and what finds one. Other pages make another state. */
  private static final class State {
    final @Nullable UpperModel upper;
    final ModelPage[] pages;

    State(@Nullable UpperModel upper, ModelPage[] pages) {
      this.upper = upper;
      this.pages = pages;
    }

    long bytes() {
      long bytes = upper == null ? 0 : upper.bytes();
      for (ModelPage page : pages) {
        bytes += page.bytes() + 2 * Long.BYTES;
      }
      return bytes;
    }
  }

  private static final State EMPTY = new State(null, new ModelPage[0]);

  private volatile State state = EMPTY;

  ModelTable() {}

  /**
   * Finds the model of a key.
   *
   * @return whether it is known
   */
  boolean find(long key, ModelView target) {
    ModelPage page = pageOf(key);
    if (page == null || !page.covers(key)) {
      return false;
    }
    page.copyTo(page.models.find(key), target);
    return true;
  }

  /**
   * Returns the page known to start at a key or closest before it, {@code null} if none is. It may
   * end before the key, too.
   */
  @Nullable ModelPage pageOf(long key) {
    State now = state;
    int index = now.upper == null ? -1 : now.upper.find(key);
    return index < 0 ? null : now.pages[index];
  }

  /**
   * Takes pages that were read, which lie in a row, in place of all that is known about the keys
   * that they cover.
   */
  synchronized void install(List<ModelPage> read) {
    if (read.isEmpty()) {
      return;
    }
    State now = state;
    int from = firstFrom(now.pages, read.getFirst().low);
    int to = firstAbove(now.pages, read.getLast().high);
    if (read.size() == to - from && startAlike(read, now.pages, from)) {
      for (int i = 0; i < read.size(); i++) {
        now.pages[from + i] = read.get(i);
      }
      // The array's elements are published with it.
      state = new State(now.upper, now.pages);
      return;
    }
    List<ModelPage> pages = new ArrayList<>(Arrays.asList(now.pages).subList(0, from));
    pages.addAll(read);
    pages.addAll(Arrays.asList(now.pages).subList(to, now.pages.length));
    set(pages);
  }

  /** Forgets a page that is one no more. */
  synchronized void drop(ModelPage page) {
    List<ModelPage> pages = new ArrayList<>(Arrays.asList(state.pages));
    if (pages.removeIf(known -> known.address == page.address)) {
      set(pages);
    }
  }

  /** Forgets everything. */
  synchronized void clear() {
    state = EMPTY;
  }

  /** Returns about how many bytes it takes. */
  long bytes() {
    return state.bytes();
  }

  private void set(List<ModelPage> pages) {
    state =
        pages.isEmpty()
            ? EMPTY
            : new State(
                new UpperModel(pages.stream().mapToLong(page -> page.low).toArray()),
                pages.toArray(new ModelPage[0]));
  }

  private static boolean startAlike(List<ModelPage> read, ModelPage[] pages, int from) {
    for (int i = 0; i < read.size(); i++) {
      if (read.get(i).low != pages[from + i].low) {
        return false;
      }
    }
    return true;
  }

  /** Returns the first page that starts at a key or above it. */
  private static int firstFrom(ModelPage[] pages, long key) {
    int index = 0;
    int end = pages.length;
    while (index < end) {
      int middle = (index + end) >>> 1;
      if (pages[middle].low < key) {
        index = middle + 1;
      } else {
        end = middle;
      }
    }
    return index;
  }

  /** Returns the first page that starts above a key. */
  private static int firstAbove(ModelPage[] pages, long key) {
    return key == Long.MAX_VALUE ? pages.length : firstFrom(pages, key + 1);
  }
}
