package pando.index.rolex;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.cache.PlantedBug;
import pando.index.lock.NodeLocks;

/** Replaces a model, alone or with a neighbour, by models trained on the keys that it has now. */
final class Retraining implements RunBuilder.Sink {
  /*
   * Under the lock of the model's page and the model's own, which keeps writers away from its leaves,
   * all entries are read and new runs are written aside. The new models are locked as well, as
   * somebody may come there by a model that is older still. Then the page changes, at one moment, and
   * then the old leaves are retired. Until they are, old leaves and new ones hold the same, as nobody
   * can write to either: readers may use whichever they find. Last of all, the locks are let go, and
   * the old run is given back at once: whoever comes there later sees that no leaf there is the one
   * that he looks for.
   *
   * If it ends before the page changes, the new leaves are retired and the old ones stay. If it ends
   * after that, what is left is done again. If it dies, both keep their locks: every key can be
   * read, and writers of these models get an exception that names the holder.
   */

  private static final int ATTEMPTS_MAX = 100;
  private static final int PAUSE_MAX = 40;
  private static final int RESTARTS_MAX = 2_000;

  private final RolexServer server;
  private final RolexContext context;
  private final LeafLayout layout;
  private final RunLayout runs;
  private final Pages pages;
  private final Chains chains;
  private final NodeLocks locks;
  private final ModelLocks modelLocks;
  private final Worker worker;
  private final MemorySegment memory;
  private final RunBuilder builder;
  private final VerbList list = new VerbList();
  private final EntryBuffer entries = new EntryBuffer();

  /** The models that are replaced, in a row of the page. */
  private int from;

  private int to;

  /** Synonym leaves of the models that are replaced. */
  private long[] synonyms = new long[16];

  private int synonymCount;
  private int longest;

  /** The models that replace them. */
  private final Models built = new Models(16);

  /** The places of runs that were allocated; of those at the end there is no model yet. */
  private long[] places = new long[16];

  private int allocated;

  private final List<ModelPage> newPages = new ArrayList<>();

  Retraining(RolexContext context) {
    this.server = context.server;
    this.context = context;
    this.layout = server.leaves;
    this.runs = server.runs;
    this.pages = context.pages;
    this.chains = context.chains;
    this.locks = context.locks;
    this.modelLocks = context.modelLocks;
    this.worker = context.worker;
    this.memory = context.memory;
    this.builder =
        new RunBuilder(
            server, worker, context.run, context.message, server.options.retrainFill(), this);
  }

  /**
   * Retrains the model of a key if that is due.
   *
   * @return whether it was
   */
  boolean retrain(long key) {
    begin();
    boolean published = false;
    boolean complete = false;
    @Nullable ModelPage page = null;
    @Nullable ModelPage absorbed = null;
    try {
      page = lockPage(key);
      if (!gather(page, page.models.find(key))) {
        modelLocks.unlockAll();
        return false;
      }
      build(page);
      absorbed = replace(page);
      published = true;
      publishSurely(absorbed, page);
      complete = true;
      modelLocks.unlockAll();
    } catch (RuntimeException e) {
      if (!published) {
        undo(e);
      } else if (!complete) {
        modelLocks.keep();
      }
      modelLocks.abandon(e);
      if (complete && page != null) {
        free(absorbed, page);
      }
      throw e;
    }
    free(absorbed, page);
    return true;
  }

  private void publishSurely(@Nullable ModelPage absorbed, ModelPage page) {
    surely(() -> publish(absorbed, page));
  }

  /** Waits for as long as it ever waits between two attempts. */
  void rest() {
    worker.backoff().pauseBriefly(PAUSE_MAX);
  }

  private void begin() {
    synonymCount = 0;
    longest = 0;
    allocated = 0;
    built.clear();
    entries.clear();
    builder.reset();
    newPages.clear();
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
        locks.unlockAll();
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

  /** Takes a neighbour along, if there is one, nobody is in the way, and both make one model. */
  private boolean join(ModelPage page, int model, int neighbour, boolean sparse) {
    if (neighbour < 0 || neighbour >= page.models.count()) {
      return false;
    }
    int leaves =
        RunLayout.leaves(page.models.places[model])
            + RunLayout.leaves(page.models.places[neighbour]);
    int most = server.options.leavesMax();
    if (leaves > (sparse ? most : most / 2) || !modelLocks.tryLock(page.models.places[neighbour])) {
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
      long leaf = leaf(i);
      boolean follows = LeafLayout.low(memory, leaf) == next;
      if (!follows
          || !layout.isWhole(
              memory, leaf, LeafLayout.identity(runs.leafAddress(place, i), stamp))) {
        throw new CorruptNodeException(
            runs.leafAddress(place, i), "is not the leaf of its model: low=" + next);
      }
      next = LeafLayout.high(memory, leaf) + 1;
      chains.addLinked(list, i, leaf);
    }
    if (list.size() > 0) {
      worker.scatter(list);
    }
    for (int i = 0; i < leaves; i++) {
      collect(i, leaf(i), runs.leafAddress(place, i), stamp);
    }
  }

  private void collect(int slot, long leaf, long address, long stamp) {
    int start = entries.count();
    entries.addLeaf(memory, leaf);
    chains.begin(slot, leaf, address, stamp);
    for (chains.start(); chains.hasLeaf(); chains.next()) {
      entries.addLeaf(memory, chains.image());
      if (synonymCount == synonyms.length) {
        synonyms = Arrays.copyOf(synonyms, 2 * synonymCount);
      }
      synonyms[synonymCount++] = chains.address();
    }
    if (!chains.isWhole()) {
      throw chains.corrupt(LeafLayout.low(memory, leaf));
    }
    longest = Math.max(longest, chains.hops());
    if (chains.hops() > 0) {
      entries.sort(start);
    }
  }

  private long leaf(int index) {
    return context.leaves + (long) index * layout.bytes();
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
    lockNew(place, () -> modelLocks.tryLockNew(place));
    return modelLocks.gate(place);
  }

  @Override
  public void built(long low, long place, long line, long stamp) {
    built.add(low, place, line, stamp);
  }

  /**
   * Prepares the page with the new models in place of the old ones, and writes the pages that it
   * takes besides, which nobody knows yet.
   *
   * @return the next page, if the page is to take its models over
   */
  private @Nullable ModelPage replace(ModelPage page) {
    int behind = page.models.count();
    int kept = behind - (to - from + 1) + built.count();
    int few = Math.max(1, server.pages.capacity() / 4);
    ModelPage absorbed = kept <= few ? lockNext(page, kept) : null;
    Models models = new Models(kept);
    models.addAll(page.models, 0, from);
    models.addAll(built, 0, built.count());
    models.addAll(page.models, to + 1, behind);
    if (absorbed != null) {
      models.addAll(absorbed.models, 0, absorbed.models.count());
    }
    divide(page, absorbed == null ? page : absorbed, models);
    return absorbed;
  }

  /** Locks and reads the next page, if nobody is in the way and it is small enough to take over. */
  private @Nullable ModelPage lockNext(ModelPage page, int kept) {
    if (page.next == GlobalAddress.NULL || !tryLock(page.next)) {
      return null;
    }
    ModelPage next = pages.read(page.next);
    int most = server.pages.capacity() * 3 / 4;
    return next != null && kept + next.models.count() <= most ? next : null;
  }

  /** Divides models among a page and as many new ones behind it as they take. */
  private void divide(ModelPage page, ModelPage end, Models models) {
    int capacity = server.pages.capacity();
    int count = models.count();
    int pageCount = count <= capacity ? 1 : (count * 4 + capacity * 3 - 1) / (capacity * 3);
    int perPage = (count + pageCount - 1) / pageCount;
    long next = end.next;
    long high = end.high;
    for (int start = (count - 1) / perPage * perPage; start >= 0; start -= perPage) {
      boolean isNew = start > 0;
      long address = isNew ? allocatePage() : page.address;
      long edition = isNew ? 0 : page.edition + 1;
      Models slice = models.slice(start, Math.min(start + perPage, count));
      ModelPage divided = new ModelPage(address, edition, high, next, slice);
      newPages.add(divided);
      if (isNew) {
        pages.write(divided);
      }
      next = address;
      high = models.lows[start] - 1;
    }
  }

  private long allocatePage() {
    long address =
        server.allocator.allocatePage(worker, context.message, server.nextMemoryServer());
    boolean locked = false;
    try {
      lockNew(address, () -> tryLock(address));
      locked = true;
    } finally {
      if (!locked) {
        server.allocator.freePage(worker, context.message, address);
      }
    }
    return address;
  }

  /** Makes the new page count, and retires what it replaces. May be done again. */
  private void publish(@Nullable ModelPage absorbed, ModelPage page) {
    pages.write(newPages.getLast());
    if (absorbed != null) {
      pages.retire(absorbed.address);
    }
    list.clear();
    Words.set(memory, context.words, LeafLayout.RETIRED);
    for (int model = from; model <= to; model++) {
      addRetire(page.models.places[model]);
    }
    for (int i = 0; i < synonymCount; i++) {
      list.write(synonyms[i] + LeafLayout.CHECKSUM, context.words, Long.BYTES);
    }
    if (!PlantedBug.KEPT_LEAVES) {
      worker.scatter(list);
    }
    server.models.install(newPages.reversed());
  }

  private void addRetire(long place) {
    if (server.options.writesByCall()) {
      list.write(RunLayout.address(place) + RunLayout.GATE, context.words, Long.BYTES);
    }
    for (int i = 0; i < RunLayout.leaves(place); i++) {
      list.write(runs.leafAddress(place, i) + LeafLayout.CHECKSUM, context.words, Long.BYTES);
    }
  }

  private void free(@Nullable ModelPage absorbed, ModelPage page) {
    for (int model = from; model <= to; model++) {
      server.allocator.freeRun(worker, context.message, page.models.places[model]);
    }
    for (int i = 0; i < synonymCount; i++) {
      server.allocator.freeSynonym(worker, context.message, synonyms[i]);
    }
    if (absorbed != null) {
      server.allocator.freePage(worker, context.message, absorbed.address);
    }
  }

  /** Retires, after a failure, what was written aside, and gives it back. */
  private void undo(RuntimeException failure) {
    boolean retired = false;
    try {
      surely(this::retireNew);
      retired = true;
      freeNew();
    } catch (PandoException e) {
      failure.addSuppressed(e);
      if (!retired) {
        // Somebody may still come to the new leaves, which are as the old ones are now: so the old
        // ones stay locked.
        modelLocks.keep();
      }
    }
  }

  private void freeNew() {
    for (int i = 0; i < allocated; i++) {
      server.allocator.freeRun(worker, context.message, places[i]);
    }
    for (ModelPage page : newPages) {
      if (page.edition == 0) {
        server.allocator.freePage(worker, context.message, page.address);
      }
    }
  }

  private void retireNew() {
    list.clear();
    Words.set(memory, context.words, LeafLayout.RETIRED);
    for (int i = 0; i < allocated; i++) {
      addRetire(places[i]);
    }
    if (list.size() > 0) {
      worker.scatter(list);
    }
    for (ModelPage page : newPages) {
      if (page.edition == 0) {
        pages.retire(page.address);
      }
    }
  }

  private void surely(Runnable step) {
    for (int attempt = 0; ; attempt++) {
      try {
        step.run();
        return;
      } catch (PandoException e) {
        if (attempt == ATTEMPTS_MAX) {
          throw e;
        }
        worker.backoff().pauseBriefly(attempt);
      }
    }
  }

  private void lockAndRead(long address, VerbList reads) {
    if (!locks.lockAndRead(address, reads)) {
      worker.post(reads);
    }
  }

  private boolean tryLock(long address) {
    return locks.tryLock(address, false);
  }

  /** Locks what nobody knows yet; another may hold its lock for something else, for a moment. */
  private void lockNew(long address, BooleanSupplier tryLock) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      if (tryLock.getAsBoolean()) {
        return;
      }
      worker.backoff().pauseBriefly(attempt);
    }
    throw new StalledException(
        "the lock of a new run or page stayed taken: address="
            + GlobalAddress.toString(address)
            + ", attempts="
            + ATTEMPTS_MAX);
  }
}
