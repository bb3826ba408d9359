package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.index.session.KeyOrder;

/** One session's neighbours and scans. */
final class BlockScans {
  private final BlockReader reader;
  private final BlockDirectory directory;

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
   * Finds the entry next to a key.
   *
   * @param wanted the key, {@code null} for the end of all keys
   * @param inclusive whether the key itself counts
   */
  boolean findNeighbour(@Nullable MemorySegment wanted, boolean down, boolean inclusive) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      List<BlockEntry> passed = new ArrayList<>(1);
      List<BlockState> seen = new ArrayList<>(1);
      BlockView view = wanted == null ? lastView() : reader.view(wanted);
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

  /** Returns whether blocks without the entry that is looked for have none still. */
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

  /** Returns the last block. */
  private BlockView lastView() {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      reader.set(directory.last());
      BlockView view = reader.viewOrGone(attempt);
      if (view != null && !view.hasHigh()) {
        return view;
      }
      start = reader.pause(attempt, start, "there is no last block");
    }
  }

  private @Nullable BlockView viewBehind(BlockView view) {
    return view.hasHigh() ? reader.view(view.high()) : null;
  }

  private @Nullable BlockView viewBefore(BlockView view) {
    MemorySegment low = view.low();
    long start = 0;
    for (int attempt = 0; low.byteSize() > 0; attempt++) {
      BlockEntry before = directory.before(low);
      if (before != null) {
        reader.set(before);
        BlockView loaded = reader.viewOrGone(attempt);
        if (loaded != null && loaded.hasHigh() && KeyOrder.compare(loaded.high(), low) == 0) {
          return loaded;
        }
        // The range was joined with this one, or that before was cut: its part is found by its end.
        if (loaded != null && loaded.block().covers(low)) {
          return loaded;
        }
      }
      start = reader.pause(attempt, start, "a range has no block before it");
    }
    return null;
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

  /** Returns whether all keys of a block are below one. */
  private static boolean isBelow(BlockView view, @Nullable MemorySegment key) {
    return key == null || (view.hasHigh() && KeyOrder.compare(view.high(), key) <= 0);
  }

  /** Visits entries downwards; returns their number. */
  long scanDown(@Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
    long visited = 0;
    BlockView view = enteredBelow(from);
    @Nullable MemorySegment below = from;
    while (true) {
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
      if (below.byteSize() == 0 || KeyOrder.compare(below, to) <= 0) {
        return visited;
      }
      view = enteredBefore(view);
    }
  }

  private BlockView entered(MemorySegment wanted) {
    reader.pass.enter();
    try {
      return reader.view(wanted);
    } finally {
      reader.pass.exit();
    }
  }

  private BlockView enteredBelow(@Nullable MemorySegment wanted) {
    reader.pass.enter();
    try {
      return wanted == null ? lastView() : reader.view(wanted);
    } finally {
      reader.pass.exit();
    }
  }

  private BlockView enteredBefore(BlockView view) {
    reader.pass.enter();
    try {
      BlockView before = viewBefore(view);
      if (before == null) {
        throw new AssertionError("no block before that of a low fence");
      }
      return before;
    } finally {
      reader.pass.exit();
    }
  }

  /** Loads the value of an entry to visit; where it has another one meanwhile, that one. */
  private boolean isThere(BlockView view, int i, MemorySegment itsKey) {
    if (!view.hasBlob(i)) {
      return reader.takeValue(view, i, itsKey);
    }
    reader.pass.enter();
    try {
      return reader.takeValue(view, i, itsKey) || reader.find(itsKey);
    } finally {
      reader.pass.exit();
    }
  }
}
