package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.bugs.PlantedBug;
import pando.index.session.Retry;

/** Replaces a model, alone or with a neighbour, by models trained on its present keys. */
final class Retraining implements RunBuilder.Sink {
  /*
   * Under the lock of the model's page and the model's own, which keeps writers away from its
   * leaves, all entries are read and new runs are written aside. The new models are locked as well,
   * as a session with an even older model may reach them. Then the page changes atomically, and
   * then the old leaves are retired. Until then, old and new leaves hold the same entries, as no
   * session can write to either, so readers may use both. Last, everything is unlocked and the old
   * run is freed at once: a session that follows an old model to it detects that no leaf there is
   * the right one.
   *
   * If it ends before the page changes, the new leaves are retired and the old ones stay. If it
   * ends after that, what is left is done again. If it dies, both keep their locks: every key can
   * be read, and writers of these models get an exception that names the holder.
   */

  private static final int PAUSE_MAX = 40;
  private static final int RESTARTS_MAX = 2_000;

  private final RolexServer server;
  private final RolexContext context;
  private final RolexLeafLayout layout;
  private final RunLayout runs;
  private final ModelPages pages;
  private final PageChange pageChange;
  private final Chains chains;
  private final ModelLocks modelLocks;
  private final Worker worker;
  private final MemorySegment memory;
  private final RunBuilder builder;
  private final VerbList list = new VerbList();
  private final EntryBuffer entries = new EntryBuffer();
  private final LeafCursor cursor = new LeafCursor();

  /** The models that are replaced, in a row of the page; {@code to} is below where none is. */
  private int from;

  private int to;

  /** Synonym leaves of the models that are replaced. */
  private long[] synonyms = new long[16];

  private int synonymCount;
  private int longest;

  /** Whether the lock of a neighbour was taken, with which the model could become one. */
  private boolean wasInTheWay;

  /** The models that replace them. */
  private final ModelArrays built = new ModelArrays(16);

  /** The places of runs that were allocated; of those at the end there is no model yet. */
  private long[] places = new long[16];

  private int allocated;

  Retraining(RolexContext context) {
    this.server = context.server;
    this.context = context;
    this.layout = server.leaves;
    this.runs = server.runs;
    this.pages = context.pages;
    this.pageChange = new PageChange(context);
    this.chains = context.chains;
    this.modelLocks = context.modelLocks;
    this.worker = context.worker;
    this.memory = context.memory;
    this.builder =
        new RunBuilder(
            server, worker, context.run, context.message, server.options.retrainFill(), this);
  }

  /**
   * Retrains the model of a key if that is due, and asks for what has become due by that.
   *
   * @return whether it was
   */
  boolean retrain(long key) {
    begin();
    boolean prepared = false;
    boolean published = false;
    @Nullable ModelPage page = null;
    try {
      page = lockPage(key);
      boolean isDue = gather(page, page.models.find(key));
      if (isDue) {
        build(page);
      } else {
        replaceNone();
      }
      boolean absorbs = pageChange.lockNext(page, from, to, built.count());
      if (!isDue && !absorbs) {
        modelLocks.unlockAll();
        postpone(key);
        return false;
      }
      pageChange.prepare(page, from, to, built);
      prepared = true;
      publishSurely(page);
      published = true;
      modelLocks.unlockAll();
    } catch (Throwable e) {
      if (!prepared) {
        undo(e);
      } else if (!published) {
        published = page != null && publishAfter(e, page);
      }
      modelLocks.abandon(e);
      if (published && page != null) {
        free(page);
      }
      // The cause, such as a full pool, may last, so the task does not retry at once.
      server.retrainLater(key);
      worker.backoff().pauseBriefly(PAUSE_MAX);
      throw e;
    }
    free(page);
    postpone(page.low);
    askFurther(page);
    return true;
  }

  private void publishSurely(ModelPage page) {
    Retry.untilDone(worker, () -> publish(page));
  }

  /** Publishes again if an Error ended that half-way; returns whether it is published now. */
  private boolean publishAfter(Throwable failure, ModelPage page) {
    try {
      if (failure instanceof Error) {
        publishSurely(page);
        return true;
      }
    } catch (Throwable e) {
      failure.addSuppressed(e);
    }
    modelLocks.keep();
    return false;
  }

  private void postpone(long key) {
    if (wasInTheWay || pageChange.wasInTheWay()) {
      server.retrainLater(key);
    }
  }

  /** Has no model replaced: only the next page is absorbed. */
  private void replaceNone() {
    to = from - 1;
    synonymCount = 0;
  }

  /**
   * Asks for what may have become due: models that are sparse still, those at the seam of two
   * pages, and the page before, which may absorb this one.
   */
  private void askFurther(ModelPage page) {
    ModelPage absorbed = pageChange.absorbed();
    if (absorbed != null) {
      server.retrain(absorbed.low);
      server.retrain(page.models.lows[page.models.count() - 1]);
    }
    if (hasShrunk(page)) {
      server.retrain(built.lows[0]);
    }
    ModelPage before = page.low == Long.MIN_VALUE ? null : server.models.pageOf(page.low - 1);
    if (before != null && pageChange.absorbsNext(before, before.models.count())) {
      server.retrain(before.low);
    }
  }

  /** Returns whether there are fewer models or leaves now: so there is an end to asking further. */
  private boolean hasShrunk(ModelPage page) {
    int leavesBefore = 0;
    for (int model = from; model <= to; model++) {
      leavesBefore += RunLayout.leaves(page.models.places[model]);
    }
    int leavesNow = 0;
    for (int model = 0; model < built.count(); model++) {
      leavesNow += RunLayout.leaves(built.places[model]);
    }
    int modelsBefore = to - from + 1;
    return leavesNow + built.count() < leavesBefore + modelsBefore;
  }

  private void begin() {
    synonymCount = 0;
    longest = 0;
    wasInTheWay = false;
    allocated = 0;
    built.clear();
    entries.clear();
    builder.reset();
    pageChange.reset();
  }

  private ModelPage lockPage(long key) {
    for (int attempt = 0; attempt < RESTARTS_MAX; attempt++) {
      ModelPage known = server.models.pageOf(key);
      if (known != null && known.covers(key)) {
        lockAndRead(known.address, pages.toRead(known.address));
        ModelPage page = pages.takeRead(known.address);
        if (page != null && page.covers(key)) {
          return page;
        }
        context.locks.unlockAll();
      }
      pages.refresh(key);
      worker.backoff().pauseBriefly(attempt);
    }
    throw new StalledException(
        "no page of models stays: key=" + key + ", restarts=" + RESTARTS_MAX);
  }

  /** Reads the entries of a model, and of a neighbour if both are small, where that is due. */
  private boolean gather(ModelPage page, int model) {
    from = model;
    to = model;
    if (!modelLocks.lockAndRead(
        page.models.lows[model], page.models.places[model], toRead(page, model))) {
      throw new CorruptNodeException(
          page.address, "has a model whose run is none: key=" + page.models.lows[model]);
    }
    take(page, model);
    int leaves = RunLayout.leaves(page.models.places[model]);
    boolean crowded = synonymCount >= server.synonymsMax(leaves) || longest >= Changes.HOPS_DUE;
    boolean sparse = entries.count() < leaves * layout.delta() * server.options.mergeShare();
    if (!crowded && !sparse) {
      return false;
    }
    boolean joined = join(page, model, model + 1, sparse) || join(page, model, model - 1, sparse);
    entries.sort(0);
    return crowded || joined || builder.leavesFor(entries.count()) < leaves;
  }

  /**
   * Adds a neighbour, if there is one, its lock is free, and both can become one model; returns
   * whether it did. A model without entries takes no room in the new one.
   */
  private boolean join(ModelPage page, int model, int neighbour, boolean sparse) {
    if (neighbour < 0 || neighbour >= page.models.count()) {
      return false;
    }
    int others = RunLayout.leaves(page.models.places[neighbour]);
    int leaves = RunLayout.leaves(page.models.places[model]) + others;
    int most = server.options.leavesMax();
    boolean swallowed = entries.count() == 0 && others <= most / 2;
    if (!swallowed && leaves > (sparse ? most : most / 2)) {
      return false;
    }
    if (!modelLocks.tryLock(page.models.places[neighbour])) {
      wasInTheWay = sparse;
      return false;
    }
    worker.post(toRead(page, neighbour));
    take(page, neighbour);
    from = Math.min(model, neighbour);
    to = Math.max(model, neighbour);
    return true;
  }

  private VerbList toRead(ModelPage page, int model) {
    long place = page.models.places[model];
    int bytes = RunLayout.leaves(place) * layout.bytes();
    return list.clear().read(runs.leafAddress(place, 0), context.leaves, bytes);
  }

  /** Takes the entries of a model whose leaves were read, and of their chains. */
  private void take(ModelPage page, int model) {
    long place = page.models.places[model];
    long stamp = page.models.stamps[model];
    int leaves = RunLayout.leaves(place);
    list.clear();
    long next = page.models.lows[model];
    for (int i = 0; i < leaves; i++) {
      long leaf = context.leaf(i);
      cursor.set(i, leaf, runs.leafAddress(place, i), stamp);
      boolean follows = RolexLeafLayout.low(memory, leaf) == next;
      if (!follows || !layout.isWhole(memory, leaf, cursor.identity())) {
        throw new CorruptNodeException(cursor.address, "is not the leaf of its model: low=" + next);
      }
      next = RolexLeafLayout.high(memory, leaf) + 1;
      chains.addLinked(list, i, leaf);
    }
    if (list.size() > 0) {
      worker.scatter(list);
    }
    for (int i = 0; i < leaves; i++) {
      cursor.set(i, context.leaf(i), runs.leafAddress(place, i), stamp);
      collect();
    }
  }

  private void collect() {
    int start = entries.count();
    entries.addLeaf(memory, cursor.image);
    chains.begin(cursor);
    for (chains.start(); chains.hasLeaf(); chains.next()) {
      entries.addLeaf(memory, chains.leaf().image);
      if (synonymCount == synonyms.length) {
        synonyms = Arrays.copyOf(synonyms, 2 * synonymCount);
      }
      synonyms[synonymCount++] = chains.leaf().address;
    }
    if (!chains.isWhole()) {
      throw chains.corrupt(RolexLeafLayout.low(memory, cursor.image));
    }
    longest = Math.max(longest, chains.hops());
    if (chains.hops() > 0) {
      entries.sort(start);
    }
  }

  /** Trains, and writes the new runs. */
  private void build(ModelPage page) {
    builder.start(page.models.lows[from]);
    for (int i = 0; i < entries.count(); i++) {
      builder.add(entries.key(i), entries.value(i));
    }
    builder.finish(page.highOf(to));
  }

  @Override
  public long allocated(long place) {
    if (allocated == places.length) {
      places = Arrays.copyOf(places, 2 * allocated);
    }
    places[allocated++] = place;
    context.lockNew(RunLayout.address(place), () -> modelLocks.tryLockNew(place));
    return modelLocks.gate(place);
  }

  @Override
  public void built(long low, long place, long line, long stamp) {
    built.add(low, place, line, stamp);
  }

  /** Makes the new page count, and retires what it replaces. May be done again. */
  private void publish(ModelPage page) {
    pageChange.publish();
    list.clear();
    Words.set(memory, context.words, RolexLeafLayout.RETIRED);
    for (int model = from; model <= to; model++) {
      addRetire(page.models.places[model]);
    }
    for (int i = 0; i < synonymCount; i++) {
      list.write(synonyms[i] + RolexLeafLayout.CHECKSUM, context.words, Long.BYTES);
    }
    if (!PlantedBug.KEPT_LEAVES && list.size() > 0) {
      worker.scatter(list);
    }
    pageChange.install();
  }

  private void addRetire(long place) {
    if (server.options.writesByCall()) {
      list.write(RunLayout.address(place) + RunLayout.GATE, context.words, Long.BYTES);
    }
    for (int i = 0; i < RunLayout.leaves(place); i++) {
      list.write(runs.leafAddress(place, i) + RolexLeafLayout.CHECKSUM, context.words, Long.BYTES);
    }
  }

  private void free(ModelPage page) {
    for (int model = from; model <= to; model++) {
      server.allocator.freeRun(worker, context.message, page.models.places[model]);
    }
    for (int i = 0; i < synonymCount; i++) {
      server.allocator.freeSynonym(worker, context.message, synonyms[i]);
    }
    pageChange.free();
  }

  /** Retires, after a failure, what was written aside, and gives it back. */
  private void undo(Throwable failure) {
    boolean retired = false;
    try {
      Retry.untilDone(worker, this::retireNew);
      retired = true;
      freeNew();
    } catch (Throwable e) {
      failure.addSuppressed(e);
      if (!retired) {
        // A session may still reach the new leaves, which hold the same entries as the old ones, so
        // all stay locked.
        modelLocks.keep();
      }
    }
  }

  private void retireNew() {
    list.clear();
    Words.set(memory, context.words, RolexLeafLayout.RETIRED);
    for (int i = 0; i < allocated; i++) {
      addRetire(places[i]);
    }
    if (list.size() > 0) {
      worker.scatter(list);
    }
    pageChange.retireNew();
  }

  private void freeNew() {
    for (int i = 0; i < allocated; i++) {
      server.allocator.freeRun(worker, context.message, places[i]);
    }
    pageChange.freeNew();
  }

  private void lockAndRead(long address, VerbList reads) {
    if (!context.locks.lockAndRead(address, reads)) {
      worker.post(reads);
    }
  }
}
