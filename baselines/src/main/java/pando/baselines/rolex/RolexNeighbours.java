package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.index.CorruptNodeException;
import pando.index.session.NeighbourSearch;

/** Searches the entry next to a key: in one leaf, or in all leaves of a model under its lock. */
final class RolexNeighbours extends NeighbourSearch {
  /** After so many attempts in a row with an unchanged model, its leaves count as damaged. */
  private static final int DAMAGES_MAX = 3;

  private final RolexLeafLayout layout;
  private final RunLayout runs;
  private final RolexContext context;
  private final RolexLeaves leaves;
  private final MemorySegment memory;
  private final ModelLocks locks;
  private final ModelView model;
  private final ModelView before;
  private int damages;
  private final LeafCursor cursor = new LeafCursor();
  private final EntryBuffer entries = new EntryBuffer();
  private final VerbList nothing = new VerbList();

  /** A key of the model whose lock is taken. */
  private long busyKey;

  RolexNeighbours(RolexContext context, RolexLeaves leaves) {
    this.context = context;
    this.layout = context.server.leaves;
    this.runs = context.server.runs;
    this.leaves = leaves;
    this.memory = context.memory;
    this.locks = context.modelLocks;
    this.model = new ModelView(context.server.options.epsilon(), layout.delta());
    this.before = new ModelView(context.server.options.epsilon(), layout.delta());
  }

  /** {@inheritDoc} If the leaf has synonym leaves, returns {@link Outcome#FURTHER}. */
  @Override
  public Outcome look(long wanted, boolean down) {
    damages = 0;
    for (int attempt = 0; ; attempt++) {
      if (leaves.read(wanted)) {
        return lookInLeaf(wanted, down);
      }
      if (!leaves.astray(wanted, attempt)) {
        return Outcome.FURTHER;
      }
    }
  }

  private Outcome lookInLeaf(long wanted, boolean down) {
    long leaf = leaves.leaf.image;
    if (RolexLeafLayout.link(memory, leaf) != GlobalAddress.NULL) {
      return Outcome.FURTHER;
    }
    entries.clear();
    entries.addLeaf(memory, leaf);
    if (take(wanted, down)) {
      return Outcome.FOUND;
    }
    return down
        ? beyond(RolexLeafLayout.low(memory, leaf), true)
        : beyond(RolexLeafLayout.high(memory, leaf), false);
  }

  /** Takes the entry next to a key out of those that were collected, if there is one. */
  private boolean take(long wanted, boolean down) {
    int found = Arrays.binarySearch(entries.keys(), 0, entries.count(), wanted);
    int index = found >= 0 ? found : down ? -found - 2 : -found - 1;
    if (index < 0 || index >= entries.count()) {
      return false;
    }
    found(entries.key(index), entries.value(index));
    return true;
  }

  @Override
  protected Outcome lookUnderLock(long wanted, boolean down) {
    context.pages.find(wanted, model);
    if (!locks.tryLock(model.place)) {
      busyKey = wanted;
      return busy(model.place);
    }
    hold(model.place);
    if (!readRun()) {
      refresh(wanted);
      return Outcome.BUSY;
    }
    return lookInRun(wanted, down);
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
          "has no leaves as its model says: key=%s, run=%s"
              .formatted(wanted, RunLayout.toString(before.place)));
    }
  }

  /** Reads all leaves of the model; {@code false} if the model is old. */
  private boolean readRun() {
    int bytes = model.leaves() * layout.bytes();
    context.worker.read(runs.leafAddress(model.place, 0), context.leaves, bytes);
    for (int i = 0; i < model.leaves(); i++) {
      boolean follows =
          i == 0
              ? RolexLeafLayout.low(memory, context.leaf(0)) == model.low
              : RolexLeafLayout.low(memory, context.leaf(i))
                  == RolexLeafLayout.high(memory, context.leaf(i - 1)) + 1;
      cursor.set(i, context.leaf(i), runs.leafAddress(model.place, i), model.stamp);
      if (!follows || !layout.isWhole(memory, cursor.image, cursor.identity())) {
        return false;
      }
    }
    return RolexLeafLayout.high(memory, context.leaf(model.leaves() - 1)) == model.high;
  }

  private Outcome lookInRun(long wanted, boolean down) {
    int step = down ? -1 : 1;
    for (int i = leafOf(wanted); i >= 0 && i < model.leaves(); i += step) {
      entries.clear();
      cursor.set(i, context.leaf(i), runs.leafAddress(model.place, i), model.stamp);
      if (!context.chains.collectAlone(cursor, entries)) {
        throw context.chains.corrupt(wanted);
      }
      if (take(wanted, down)) {
        return Outcome.FOUND;
      }
    }
    return down ? beyond(model.low, true) : beyond(model.high, false);
  }

  private int leafOf(long wanted) {
    int index = model.leaves() - 1;
    while (index > 0 && RolexLeafLayout.low(memory, context.leaf(index)) > wanted) {
      index--;
    }
    return index;
  }

  @Override
  protected boolean lock(long place) {
    return locks.lockAndRead(busyKey, place, nothing);
  }

  @Override
  protected void unlock(long place) {
    locks.unlock(place);
  }
}
