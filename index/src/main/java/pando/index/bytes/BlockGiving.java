package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.memory.KeyOrder;
import pando.index.Partitioning;
import pando.index.Partitioning.Bound;
import pando.index.Session;
import pando.index.blob.Blobs;
import pando.index.bugs.PlantedBug;
import pando.index.bytes.FreshLabels.Gap;
import pando.index.host.Parting;
import pando.index.session.Failures;

/** Blocks that leave a process: those on one side of a key, or all. */
final class BlockGiving implements Parting {
  /*
   * What moves is labels: the blocks, and their values, stay where they are in the pool.
   *
   *   1. While operations go on, changes that wait are merged into their blocks.
   *   2. Operations are kept out until the end. The rest is merged, and all that the labels in the
   *      pool may still lead to is settled.
   *   3. The block that has the key is split there.
   *   4. A bound of labels is chosen, and blocks on the wrong side of it get other labels. Those
   *      that leave keep their old ones, too: both lead to the same block, of which one counts.
   *      Those that stay lose them once the pool has the new ones.
   *   5. The index of labels gives the labels on one side away, and the fence with them.
   *   6. The directory drops the blocks that have left, and their old labels are discarded. If
   *      nothing was given, the new labels are discarded.
   *
   * A process that ends in the middle leaves blocks with two labels, or labels of blocks outside of
   * its range: these do not count (OpenedBlocks).
   */

  /** A bound goes beyond all used labels, where no block needs another one, if so many are free. */
  private static final long MANY = 1L << 33;

  private final ByteIndex index;
  private final Blobs blobs;
  private final BlockChanges changes;

  /** The second labels of blocks that leave. */
  private final List<Long> added = new ArrayList<>();

  /** The new labels of blocks that stay, until the pool has them. */
  private final Map<BlockEntry, Long> staying = new LinkedHashMap<>();

  private Bound bound = Bound.of(0);

  /** Gives the labels, {@code null} if there is nothing to give. */
  private @Nullable Parting labels;

  /** Whether this thread has locked the ranges, and shut the gate. */
  private boolean locked;

  private boolean shut;

  private BlockGiving(ByteIndex index) {
    this.index = index;
    this.changes = index.changes;
    this.blobs = new Blobs(index.space);
  }

  /**
   * Begins to give the keys on one side of another one.
   *
   * @param at the key, {@code null} for one in the middle
   * @param upper whether the keys from there on leave, or those below
   * @param cut gives the labels on that side of one
   */
  static Parting part(
      ByteIndex index, @Nullable MemorySegment at, boolean upper, LongFunction<Parting> cut) {
    return begun(index, giving -> giving.cut(at, upper, cut));
  }

  /**
   * Begins to give all keys.
   *
   * @param whole gives all labels
   */
  static Parting whole(ByteIndex index, Supplier<Parting> whole) {
    return begun(
        index,
        giving -> {
          giving.bound = giving.boundOfRange();
          giving.labels = whole.get();
        });
  }

  private static Parting begun(ByteIndex index, Consumer<BlockGiving> step) {
    if (!PlantedBug.WAITING_LEFT) {
      index.flush();
    }
    BlockGiving giving = new BlockGiving(index);
    try {
      giving.begin();
      step.accept(giving);
      return giving;
    } catch (Throwable e) {
      Closing.after(e, giving::close);
      throw e;
    }
  }

  private void begin() {
    Worker worker = blobs.worker();
    index.ranges.lock(worker.backoff());
    locked = true;
    try (Session session = index.labels.session()) {
      index.ranges.follow(session, blobs);
    }
    if (!index.gate.shut(worker)) {
      throw new IllegalStateException("the index is closed");
    }
    shut = true;
    settle();
  }

  /** Has the labels in the pool lead to the blocks that there are, and to nothing else. */
  private void settle() {
    if (PlantedBug.WAITING_LEFT) {
      return;
    }
    changes.settleAll();
    if (!index.unsettled.isEmpty() || !index.superseded.isEmpty()) {
      throw new StalledException("blocks cannot leave, as steps that failed are still to be taken");
    }
  }

  /** Returns where the range of this process begins. */
  private Bound boundOfRange() {
    Partitioning table = index.labels.partitioning();
    return table.boundOfRange(table.rangeOfServer(index.ranges.number()));
  }

  private void cut(@Nullable MemorySegment at, boolean upper, LongFunction<Parting> cut) {
    MemorySegment fence = at == null ? MiddleKey.of(index.directory, changes) : at;
    if (fence == null || KeyOrder.compare(fence, index.directory.served().low()) == 0) {
      bound = boundOfRange();
      return;
    }
    changes.cutAt(fence);
    settle();
    long label = relabel(fence, upper);
    Parting begun = cut.apply(label);
    labels = begun;
    if (begun.bound().low() != label) {
      throw new PoolFullException(
          "the pool has no room for a bound between labels of blocks: remove entries, or use a pool"
              + " with more memory: label="
              + label);
    }
    bound = new Bound(label, fence);
  }

  /**
   * Chooses a label as the bound, and returns it. Gives other labels to blocks on the wrong side of
   * it: those of blocks from the fence on are at or above the bound, those of the others below.
   */
  private long relabel(MemorySegment fence, boolean upper) {
    ServedKeys served = index.directory.served();
    BlockEntry[] all = index.directory.all();
    long[] used = Arrays.stream(all).mapToLong(BlockEntry::label).sorted().toArray();
    long low = served.lowLabel();
    long high = served.highLabel();
    Gap outer = upper ? Gap.above(used, low, high) : Gap.below(used, low, high);
    Gap gap = outer.isAtLeast(MANY) ? outer : Gap.largest(used, low, high);
    long label = gap.isAtLeast(Gap.WIDE) ? gap.middle() : low + ((high - low) >>> 1) + 1;
    List<BlockEntry> above = new ArrayList<>();
    List<BlockEntry> below = new ArrayList<>();
    for (BlockEntry entry : all) {
      boolean isAbove = entry.compareLow(fence) >= 0;
      if (isAbove != entry.label() >= label) {
        (isAbove ? above : below).add(entry);
      }
    }
    relabel(above, Gap.largest(within(used, label, high), label, high), upper);
    relabel(below, Gap.largest(within(used, low, label - 1), low, label - 1), !upper);
    relabelStaying();
    return label;
  }

  private static long[] within(long[] used, long low, long high) {
    return Arrays.stream(used).filter(each -> low <= each && each <= high).toArray();
  }

  /**
   * Stores blocks under further labels.
   *
   * @param leave whether they leave
   */
  private void relabel(List<BlockEntry> entries, Gap gap, boolean leave) {
    long next = entries.isEmpty() ? 0 : gap.place(entries.size());
    for (BlockEntry entry : entries) {
      if (leave) {
        added.add(next);
      } else {
        staying.put(entry, next);
      }
      changes.labels.store(next, entry.state().word());
      next++;
    }
  }

  private void relabelStaying() {
    if (!staying.isEmpty()) {
      index.labels.writeBack();
      List<Long> old = new ArrayList<>();
      staying.forEach((entry, label) -> {
        old.add(entry.label());
        entry.setLabel(label);
      });
      staying.clear();
      discard(old);
    }
  }

  /** Discards labels; what fails is done later. */
  private void discard(List<Long> some) {
    int done = 0;
    try {
      for (; done < some.size(); done++) {
        changes.labels.discard(some.get(done));
      }
    } catch (PandoException _) {
      // They are strays.
    } finally {
      index.unsettled.addStrays(some.subList(done, some.size()));
    }
  }

  @Override
  public Bound bound() {
    return bound;
  }

  @Override
  public void give(int receiver, Partitioning after) {
    if (labels != null) {
      labels.give(receiver, after);
    }
  }

  @Override
  public void close() {
    Failures failures = new Failures();
    if (labels != null) {
      failures.collect(labels::close);
    }
    if (shut) {
      failures.collect(this::end);
      index.gate.open();
    }
    if (locked) {
      index.ranges.unlock();
    }
    failures.collect(blobs::close);
    failures.rethrow();
  }

  /** Drops the blocks that have left, or, if nothing was given, the labels that they had got. */
  private void end() {
    ServedKeys given = index.ranges.given();
    ServedKeys served = index.directory.served();
    List<Long> old = new ArrayList<>(staying.values());
    if (given.beginsWith(served) && given.endsWith(served) && !given.isNone()) {
      old.addAll(added);
    } else {
      index.ranges.noteGiven();
      List<BlockEntry> gone = index.directory.keep(given);
      for (BlockEntry entry : gone) {
        index.cache.set(entry, null);
        entry.setState(BlockState.gone(entry.state().outline()));
      }
      if (!added.isEmpty()) {
        gone.stream().map(BlockEntry::label).filter(index.ranges::isOwn).forEach(old::add);
      }
    }
    try {
      discard(old);
    } finally {
      if (index.superseded.isEmpty()) {
        // Else labels that are to be discarded would be taken again.
        index.restartLabels();
      }
    }
  }
}
