package pando.index.rolex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.index.CorruptNodeException;

/**
 * Looks for the entry next to a key: in one leaf without a lock, or in models that stay locked, so
 * that all their leaves are as they are found at one moment.
 *
 * <p>Whoever holds a lock waits for no other: he finds somebody in the way, lets go of all he
 * holds, {@linkplain #awaitBusy waits} for that lock alone, and starts anew with it.
 */
final class Neighbours {
  /** What a look comes to. */
  enum Outcome {
    /** The entry was found. */
    FOUND,
    /** Nothing here: the answer lies beyond the {@link #bound}. */
    FURTHER,
    /** There is no such entry. */
    NONE,
    /** Somebody is in the way, or the model was old: start anew. */
    BUSY
  }

  /** Looks at a model, in a row, that must find its leaves damaged before they count as such. */
  private static final int DAMAGES_MAX = 3;

  private final LeafLayout layout;
  private final RunLayout runs;
  private final RolexContext context;
  private final Leaves leaves;
  private final Chains chains;
  private final MemorySegment memory;
  private final ModelLocks locks;
  private final ModelView model;
  private final ModelView before;
  private int damages;
  private final LeafCursor cursor = new LeafCursor();
  private final EntryBuffer entries = new EntryBuffer();
  private final VerbList nothing = new VerbList();

  private long[] held = new long[8];
  private int count;

  /** Place of the model that somebody else has locked, 0 where there is none. */
  private long busy;

  private long busyKey;

  private long key;
  private long value;
  private long bound;

  Neighbours(RolexContext context, Leaves leaves) {
    this.context = context;
    this.layout = context.server.leaves;
    this.runs = context.server.runs;
    this.leaves = leaves;
    this.chains = context.chains;
    this.memory = context.memory;
    this.locks = context.modelLocks;
    this.model = new ModelView(context.server.options.epsilon(), layout.delta());
    this.before = new ModelView(context.server.options.epsilon(), layout.delta());
  }

  /** Returns the key that was found. */
  long key() {
    return key;
  }

  /** Returns the value that was found. */
  long value() {
    return value;
  }

  /** Returns the key to go on from. */
  long bound() {
    return bound;
  }

  /** Looks in one leaf, downwards or upwards; goes further where that has synonym leaves. */
  Outcome look(long wanted, boolean down) {
    damages = 0;
    try {
      for (int attempt = 0; ; attempt++) {
        if (leaves.read(wanted)) {
          return lookInLeaf(wanted, down);
        }
        if (!leaves.astray(wanted, attempt)) {
          bound = wanted;
          return Outcome.FURTHER;
        }
      }
    } catch (Throwable e) {
      abandon(e);
      throw e;
    }
  }

  private Outcome lookInLeaf(long wanted, boolean down) {
    long leaf = leaves.leaf.image;
    bound = wanted;
    if (LeafLayout.link(memory, leaf) != GlobalAddress.NULL) {
      return Outcome.FURTHER;
    }
    entries.clear();
    entries.addLeaf(memory, leaf);
    if (take(wanted, down)) {
      return Outcome.FOUND;
    }
    return down
        ? beyond(LeafLayout.low(memory, leaf), true)
        : beyond(LeafLayout.high(memory, leaf), false);
  }

  /** Takes the entry next to a key out of those that were collected, if there is one. */
  private boolean take(long wanted, boolean down) {
    int found = Arrays.binarySearch(entries.keys(), 0, entries.count(), wanted);
    int index = found >= 0 ? found : down ? -found - 2 : -found - 1;
    if (index < 0 || index >= entries.count()) {
      return false;
    }
    key = entries.key(index);
    value = entries.value(index);
    return true;
  }

  private Outcome beyond(long fence, boolean down) {
    if (fence == (down ? Long.MIN_VALUE : Long.MAX_VALUE)) {
      return Outcome.NONE;
    }
    bound = down ? fence - 1 : fence + 1;
    return Outcome.FURTHER;
  }

  /** As {@link #look}, in all leaves of a model, which stays locked. Does not wait for a lock. */
  Outcome lookAndLock(long wanted, boolean down) {
    busy = 0;
    try {
      context.pages.find(wanted, model);
      if (!locks.tryLock(model.place)) {
        busy = model.place;
        busyKey = wanted;
        return Outcome.BUSY;
      }
      hold(model.place);
      if (!readRun()) {
        refresh(wanted);
        return Outcome.BUSY;
      }
      damages = 0;
      return lookInRun(wanted, down);
    } catch (Throwable e) {
      abandon(e);
      throw e;
    }
  }

  /** Reads the model's page again: it is old, or else its leaves are damaged. */
  private void refresh(long wanted) {
    before.set(model);
    context.pages.refresh(wanted);
    context.pages.find(wanted, model);
    damages = model.isSame(before) ? damages + 1 : 0;
    if (damages == DAMAGES_MAX) {
      throw new CorruptNodeException(
          before.run(),
          "has no leaves as its model says: key="
              + wanted
              + ", run="
              + RunLayout.toString(before.place));
    }
  }

  /** Reads all leaves of the model; {@code false} where the model is old. */
  private boolean readRun() {
    int bytes = model.leaves() * layout.bytes();
    context.worker.read(runs.leafAddress(model.place, 0), context.leaves, bytes);
    for (int i = 0; i < model.leaves(); i++) {
      boolean follows =
          i == 0
              ? LeafLayout.low(memory, leaf(0)) == model.low
              : LeafLayout.low(memory, leaf(i)) == LeafLayout.high(memory, leaf(i - 1)) + 1;
      cursor.set(i, leaf(i), runs.leafAddress(model.place, i), model.stamp);
      if (!follows || !layout.isWhole(memory, cursor.image, cursor.identity())) {
        return false;
      }
    }
    return LeafLayout.high(memory, leaf(model.leaves() - 1)) == model.high;
  }

  private Outcome lookInRun(long wanted, boolean down) {
    int step = down ? -1 : 1;
    for (int i = leafOf(wanted); i >= 0 && i < model.leaves(); i += step) {
      entries.clear();
      cursor.set(i, leaf(i), runs.leafAddress(model.place, i), model.stamp);
      if (!chains.collectAlone(cursor, entries)) {
        throw chains.corrupt(wanted);
      }
      if (take(wanted, down)) {
        return Outcome.FOUND;
      }
    }
    return down ? beyond(model.low, true) : beyond(model.high, false);
  }

  private int leafOf(long wanted) {
    int index = model.leaves() - 1;
    while (index > 0 && LeafLayout.low(memory, leaf(index)) > wanted) {
      index--;
    }
    return index;
  }

  private long leaf(int index) {
    return context.leaves + (long) index * layout.bytes();
  }

  /**
   * Waits for the lock that {@link #lookAndLock} could not have, if there was one, while nothing is
   * held, and keeps it for the next attempt.
   */
  void awaitBusy() {
    if (busy == 0) {
      return;
    }
    long place = busy;
    busy = 0;
    try {
      if (locks.lockAndRead(busyKey, place, nothing)) {
        hold(place);
      }
    } catch (Throwable e) {
      abandon(e);
      throw e;
    }
  }

  private void hold(long place) {
    if (count == held.length) {
      held = Arrays.copyOf(held, 2 * count);
    }
    held[count++] = place;
  }

  /** Lets go of everything that is locked. */
  void unlock() {
    try {
      while (count > 0) {
        locks.unlock(held[--count]);
      }
    } catch (Throwable e) {
      abandon(e);
      throw e;
    }
  }

  private void abandon(Throwable failure) {
    locks.abandon(failure);
    count = 0;
  }
}
