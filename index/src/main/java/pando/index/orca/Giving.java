package pando.index.orca;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import pando.index.Partitioning;
import pando.index.Partitioning.Bound;
import pando.index.bugs.PlantedBug;
import pando.index.host.Parting;
import pando.index.orca.directory.DirectoryNode;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.space.ExtentAllocator;
import pando.index.session.Failures;

/** Keys that leave a compute server: some at one end of its range, or all. */
final class Giving implements Parting {
  /*
   * A region has leaves of one compute server alone, as its owner takes all gaps in it for its own.
   * So leaves that leave move to regions of their own. Merges write a leaf where nothing was, so a
   * merge is what moves it:
   *
   *   1. While operations are kept out for a moment, the bound is chosen. From now on merges put
   *      leaves that are to leave into a space of their own, and join none across the bound.
   *   2. While operations go on, each leaf that is to leave is merged, and its delta with it.
   *   3. Operations are kept out. Cached values that are newer than the leaves are written back,
   *      and leaves that got a delta meanwhile are merged again.
   *   4. Directory pages are written: of what leaves, and of what stays. What leaves becomes a gift
   *      in the table of roots, which counts as soon as the partition table is written.
   *   5. The partition table is written.
   *   6. The root word leads to the pages of what stays; entries, cached records and images of what
   *      has left are dropped, and old pages freed.
   *
   * Where all keys leave, all regions leave with them, and the tree as it is becomes the gift.
   */

  private final Consumer<Runnable> quietly;
  private final OrcaServer giver;
  private final Partitioning table;
  private final boolean whole;
  private long bound;
  private long low;
  private long high;

  /** Whether leaves have a space of their own until they are given or stay. */
  private boolean parting;

  /** Whether the table of roots has the gift, which is not given yet. */
  private boolean ready;

  private int gift;
  private List<Long> before = List.of();
  private List<Long> pagesGiven = List.of();
  private List<Long> pagesKept = List.of();
  private DirectoryNode rootKept;
  private ExtentAllocator space;

  private Giving(
      Consumer<Runnable> quietly, OrcaServer giver, Partitioning table, boolean whole) {
    this.quietly = quietly;
    this.giver = giver;
    this.table = table;
    this.whole = whole;
    this.rootKept = giver.store.directory.root();
    this.space = giver.store.space.extents();
  }

  /**
   * Begins to give all keys.
   *
   * @param quietly runs a step while operations and background tasks are kept out
   * @param table the partition table by which the giver has the keys
   */
  static Giving all(Consumer<Runnable> quietly, OrcaServer giver, Partitioning table) {
    Giving giving = new Giving(quietly, giver, table, true);
    giving.bound = giver.low();
    giving.low = giver.low();
    giving.high = giver.high();
    giver.rewrite(giving.low, giving.high);
    return giving;
  }

  /**
   * Begins to give some keys.
   *
   * @param quietly runs a step while operations and background tasks are kept out
   * @param table the partition table by which the giver has the keys
   * @param bound finds the bound meanwhile
   * @param upper whether the keys from the bound on leave, or those below
   */
  static Giving part(
      Consumer<Runnable> quietly,
      OrcaServer giver,
      Partitioning table,
      LongSupplier bound,
      boolean upper) {
    Giving giving = new Giving(quietly, giver, table, false);
    try {
      quietly.accept(() -> giving.begin(bound.getAsLong(), upper));
      if (giving.parting) {
        giver.rewrite(giving.low, giving.high);
      }
      return giving;
    } catch (Throwable e) {
      Failures failures = new Failures();
      failures.collect(giving::close);
      failures.join(e);
      throw e;
    }
  }

  private void begin(long found, boolean upper) {
    bound = found;
    low = upper ? bound : giver.low();
    high = upper ? giver.high() : bound - 1;
    parting = bound > giver.low();
    if (parting) {
      space = giver.store.space.startLeaving(low, high);
    }
  }

  @Override
  public Bound bound() {
    return Bound.of(bound);
  }

  @Override
  public void give(int receiver, Partitioning after) {
    giver.withContext(context -> give(context, receiver, after.epoch()));
    giver.onGiven(this::end);
  }

  private void give(OrcaContext context, int receiver, long epoch) {
    context.waitForNothing();
    writeBack(context);
    OrcaRoots roots = new OrcaRoots(context, giver.store.root.table());
    roots.read();
    roots.eraseUnused(table);
    long root = whole ? giver.store.directory.root().address() : writePages(context);
    space.trim(context.worker, context.message);
    gift = roots.give(root, epoch, receiver, giver.number);
    ready = true;
  }

  private void writeBack(OrcaContext context) {
    if (!PlantedBug.GIVEN_UNCLEANED) {
      new Cleaner(context).cleanRange(low, high);
    }
    if (PlantedBug.GIVEN_UNMERGED) {
      return;
    }
    OrcaMerges merges = new OrcaMerges(context);
    for (int attempt = 0; merges.rewrite(low, high); attempt++) {
      context.pause(attempt, "a leaf that is to leave stays latched", low);
    }
  }

  /** Writes the pages of what leaves, and of what stays; returns the root of what leaves. */
  private long writePages(OrcaContext context) {
    PageWriter.Leaves leaving = new PageWriter.Leaves();
    PageWriter.Leaves staying = new PageWriter.Leaves();
    giver.store.directory.forEachLeaf((leafLow, leafHigh, entry) ->
        (leaves(leafLow) ? leaving : staying).add(leafLow, entry, leafHigh));
    before = giver.store.directory.pages();
    PageWriter given = new PageWriter(context);
    PageWriter kept = new PageWriter(context);
    try {
      rootKept =
          kept.write(
              staying,
              giver.number,
              _ -> giver.store.space.allocatePage(context.worker, context.message));
      DirectoryNode root =
          given.write(
              leaving,
              giver.number,
              _ -> giver.store.space.allocatePage(space, context.worker, context.message));
      return root.address();
    } finally {
      pagesKept = kept.pages();
      pagesGiven = given.pages();
    }
  }

  private boolean leaves(long key) {
    return low <= key && key <= high;
  }

  /** Ends the giving, after the partition table was written. */
  private void end(OrcaContext context) {
    ready = false;
    parting = false;
    if (whole) {
      OrcaRoot root = giver.store.root;
      long table = root.table();
      giver.store.space.giveAway();
      giver.forget(context.worker.backoff());
      // It may get keys again.
      root.reopen(table);
      root.settle(context.worker);
      return;
    }
    dropLeaves(context);
    giver.store.space.giveAway();
    giver.store.directory.replaceAll(rootKept);
    Failures failures = new Failures();
    failures.collect(() -> {
      giver.store.root.replaceSurely(context.worker, rootKept.address());
      PageWriter.free(context, before, failures);
    });
    failures.rethrow();
  }

  private void dropLeaves(OrcaContext context) {
    LeafEntries entries = giver.store.directory.entries();
    if (!PlantedBug.RECORDS_KEPT) {
      giver.store.records.dropRange(low, high, context.worker.backoff());
    }
    giver.store.directory.forEachLeaf((leafLow, _, entry) -> {
      if (leaves(leafLow)) {
        int segments = LeafPointer.segments(entries.pointer(entry));
        giver.store.images.drop(entry, segments, context.worker.backoff());
        entries.free(entry);
      }
    });
  }

  /** {@inheritDoc} Leaves that moved stay where they are, in regions that are the giver's again. */
  @Override
  public void close() {
    if (parting || ready) {
      giver.onGiven(null);
      quietly.accept(this::stay);
    }
  }

  private void stay() {
    Failures failures = new Failures();
    failures.collect(() -> giver.withContext(context -> takeBack(context, failures)));
    if (parting) {
      giver.store.space.endLeaving();
    }
    parting = false;
    ready = false;
    failures.rethrow();
  }

  private void takeBack(OrcaContext context, Failures failures) {
    if (ready) {
      failures.collect(() -> new OrcaRoots(context, giver.store.root.table()).erase(gift));
    }
    PageWriter.free(context, pagesGiven, failures);
    PageWriter.free(context, pagesKept, failures);
    failures.collect(() -> space.trim(context.worker, context.message));
  }
}
