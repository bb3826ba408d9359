package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.KeyOrder;

/** One session's neighbours and scans. */
final class BlockScans {
  private final BlockReader reader;
  private final BlockDirectory directory;

  /** Where the last search has left the keys that this process serves. */
  private @Nullable MemorySegment left;

  /** The key that was found. */
  private MemorySegment key = MemorySegment.NULL;

  BlockScans(ByteIndex index, BlockReader reader) {
    this.reader = reader;
    this.directory = index.directory;
  }

  /** Returns the key that {@link #findNeighbour} has found. */
  MemorySegment key() {
    return key;
  }

  /**
   * Returns the key at which the last search has left the keys that this process serves; {@code
   * null} if it has found an entry, or there is none beyond.
   */
  @Nullable MemorySegment left() {
    return left;
  }

  /**
   * Finds the entry next to a key.
   *
   * @param wanted the key, {@code null} for the end of all keys
   * @param isBelow whether the keys just below it are served; it may be another process's
   * @param down whether a lesser key is looked for
   * @param inclusive whether the key itself counts
   */
  boolean findNeighbour(
      @Nullable MemorySegment wanted, boolean isBelow, boolean down, boolean inclusive) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      List<BlockEntry> passed = new ArrayList<>(1);
      List<BlockState> seen = new ArrayList<>(1);
      left = null;
      BlockView view = wanted == null || isBelow ? viewBelow(wanted) : reader.view(wanted);
      int i = wanted == null ? view.count() - 1 : place(view, wanted, down, inclusive);
      while (i < 0 || i >= view.count()) {
        passed.add(reader.entry);
        seen.add(reader.state);
        BlockView next = down ? viewBefore(view) : viewBehind(view);
        if (next == null) {
          break;
        }
        view = next;
        i = down ? view.count() - 1 : 0;
      }
      boolean found = i >= 0 && i < view.count();
      if (found) {
        key = view.key(i).asReadOnly();
      }
      if ((!found || reader.loadValue(view, i, key, attempt)) && areUnchanged(passed, seen)) {
        return found;
      }
      start = reader.pause(attempt, start, "what is beside a key changes again and again");
    }
  }

  /** Returns whether blocks without such an entry are still as they were. */
  private static boolean areUnchanged(List<BlockEntry> passed, List<BlockState> seen) {
    for (int i = 0; i < passed.size(); i++) {
      if (!passed.get(i).state().isSameAs(seen.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** Returns the number of the record next to a key, which may be -1 or the number of records. */
  private static int place(BlockView view, MemorySegment wanted, boolean down, boolean inclusive) {
    int found = view.find(wanted);
    int below = OrderedRecords.below(found);
    int upTo = OrderedRecords.upTo(found);
    if (down) {
      return (inclusive ? upTo : below) - 1;
    }
    return inclusive ? below : upTo;
  }

  /** Returns the block behind another one, {@code null} if this process serves none there. */
  private @Nullable BlockView viewBehind(BlockView view) {
    if (view.hasHigh() && !directory.served().has(view.high())) {
      left = view.high();
    }
    return view.hasHigh() && left == null ? reader.view(view.high()) : null;
  }

  /** Returns the block before another one, {@code null} if this process serves none there. */
  private @Nullable BlockView viewBefore(BlockView view) {
    MemorySegment low = view.low();
    if (low.byteSize() > 0 && !directory.served().hasBelow(low)) {
      left = low;
    }
    return low.byteSize() > 0 && left == null ? viewBelow(low) : null;
  }

  /** Returns the block with the keys just below one, with the last keys for {@code null}. */
  private BlockView viewBelow(@Nullable MemorySegment wanted) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      BlockEntry before = wanted == null ? directory.last() : directory.before(wanted);
      if (before != null) {
        reader.set(before);
        BlockView view = reader.viewOrGone(attempt);
        if (view != null && reaches(view, wanted)) {
          return view;
        }
      }
      start = reader.pause(attempt, start, "a range has no block before it");
    }
  }

  /** Returns whether a block ends at or behind a key; {@code null} is the end of all keys. */
  private static boolean reaches(BlockView view, @Nullable MemorySegment key) {
    return !view.hasHigh() || (key != null && KeyOrder.compare(view.high(), key) >= 0);
  }

  /** Returns whether all keys of a block are below one. */
  private static boolean isBelow(BlockView view, @Nullable MemorySegment key) {
    return key == null || (view.hasHigh() && KeyOrder.compare(view.high(), key) <= 0);
  }

  /** Visits entries upwards; returns their number. */
  long scan(MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    long visited = 0;
    MemorySegment next = from;
    while (true) {
      BlockView view = entered(next);
      int found = view.find(next);
      MemorySegment end = isBelow(view, to) ? null : to;
      for (int i = OrderedRecords.below(found); i < view.count(); i++) {
        MemorySegment each = view.key(i);
        if (end != null && KeyOrder.compare(each, end) >= 0) {
          return visited;
        }
        if (isThere(view, i, each)) {
          visited++;
          if (!visitor.visit(each.asReadOnly(), reader.value()) || visited == limit) {
            return visited;
          }
        }
      }
      if (!view.hasHigh() || (to != null && KeyOrder.compare(view.high(), to) >= 0)) {
        return visited;
      }
      next = view.high();
    }
  }

  /** Visits entries downwards; returns their number. */
  long scanDown(@Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
    long visited = 0;
    @Nullable MemorySegment below = from;
    while (below == null || KeyOrder.compare(below, to) > 0) {
      BlockView view = enteredBelow(below);
      int i = below == null ? view.count() - 1 : place(view, below, true, false);
      boolean goesBeyond = KeyOrder.compare(view.low(), to) < 0;
      for (; i >= 0; i--) {
        MemorySegment each = view.key(i);
        if (goesBeyond && KeyOrder.compare(each, to) < 0) {
          return visited;
        }
        if (isThere(view, i, each)) {
          visited++;
          if (!visitor.visit(each.asReadOnly(), reader.value()) || visited == limit) {
            return visited;
          }
        }
      }
      below = view.low();
    }
    return visited;
  }

  private BlockView entered(MemorySegment wanted) {
    reader.enter(wanted);
    try {
      return reader.view(wanted);
    } finally {
      reader.pass.exit();
    }
  }

  private BlockView enteredBelow(@Nullable MemorySegment wanted) {
    reader.enterBelow(wanted);
    try {
      return viewBelow(wanted);
    } finally {
      reader.pass.exit();
    }
  }

  /** Loads the value of an entry to visit, or the one that has replaced it meanwhile. */
  private boolean isThere(BlockView view, int i, MemorySegment itsKey) {
    if (!view.hasBlob(i)) {
      return reader.takeValue(view, i, itsKey);
    }
    reader.enter(itsKey);
    try {
      return reader.takeValue(view, i, itsKey) || reader.find(itsKey);
    } finally {
      reader.pass.exit();
    }
  }
}
