package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.bugs.PlantedBug;

/**
 * Ends what a compute server that is lost was doing to the index: completes or undoes its
 * retrainings, counts the leaves of its runs again, and unlocks what it had locked. The lost one is
 * fenced; others go on. Can be done again where it fails.
 */
final class RolexBurial {
  /*
   * No session writes down what it is about to do. What the lost one has left half done is found in
   * the pages that it has locked, and in the runs: nobody else changes these. A walk READs all pages
   * of models.
   *
   * A page keeps its last image beside the one that counts, so both ends of a retraining are there.
   * Before the edition is written the image that does not count names the new runs, afterwards the
   * old ones. Either way the leaves of its models that no page that counts names are retired, and
   * the next page, if the image that counts covers its keys. The image may be far older than the
   * lost one's change, and others may have used the places that it names since. So only leaves are
   * retired that are whole with the stamp in the image: no others are.
   *
   * Synonym leaves need not be retired. Sessions reach them through their leaves alone, and their
   * places are not given back. What the lost one had allocated and nothing names stays so.
   *
   * Each change of an entry is one WRITE, which makes a leaf whole. But the counts of a run are
   * changed before it. Where writes come by CALL, a memory server carries them out as a whole, and
   * only the gates of runs are left frozen.
   */

  private static final int RESTARTS_MAX = 2_000;

  private final RolexServer server;
  private final RolexContext context;
  private final Fabric fabric;
  private final int lost;
  private final Worker worker;
  private final MemorySegment memory;
  private final ModelView model;
  private final LeafCursor leaf = new LeafCursor();
  private final VerbList list = new VerbList();

  /** The locks that the lost one holds. */
  private Set<Long> held = new HashSet<>();

  private RolexBurial(RolexServer server, RolexContext context, Fabric fabric, int lost) {
    this.server = server;
    this.context = context;
    this.fabric = fabric;
    this.lost = lost;
    this.worker = context.worker;
    this.memory = context.memory;
    this.model = new ModelView(server.options.epsilon(), server.options.delta());
  }

  /**
   * Buries a compute server that is lost.
   *
   * @param server one of this process, whose models become those of the pool
   */
  static void bury(RolexServer server, Fabric fabric, int lost) {
    try (RolexContext context = new RolexContext(server, fabric, 0)) {
      new RolexBurial(server, context, fabric, lost).bury();
    }
  }

  private void bury() {
    held = server.locks.heldBy(lost, fabric, worker, context.message);
    if (!held.isEmpty() || server.options.writesByCall()) {
      mendPages();
    }
    held.forEach(lock -> server.locks.unlockFor(lost, lock, worker, context.words));
  }

  private void mendPages() {
    long key = Long.MIN_VALUE;
    boolean isLast = false;
    while (!isLast) {
      ModelPage page = page(key);
      if (isHeld(page.address)) {
        retireReplaced(page);
      }
      for (int i = 0; i < page.models.count(); i++) {
        page.copyTo(i, model);
        mendRun();
      }
      isLast = page.high == Long.MAX_VALUE;
      key = page.high + 1;
    }
  }

  /** READs the page of a key. */
  private ModelPage page(long key) {
    for (int attempt = 0; attempt < RESTARTS_MAX; attempt++) {
      context.pages.refresh(key);
      ModelPage page = server.models.pageOf(key);
      if (page != null && page.covers(key)) {
        return page;
      }
      worker.backoff().pauseBriefly(attempt);
    }
    throw new StalledException(
        "a burial met pages that kept changing: computeServer=%s, key=%s".formatted(lost, key));
  }

  private boolean isHeld(long address) {
    return held.contains(server.locks.lockOf(address));
  }

  /** Retires what the image of a page that does not count names, and is not in use. */
  private void retireReplaced(ModelPage page) {
    ModelPage other = context.pages.readOther(page.address);
    if (other == null) {
      return;
    }
    for (int i = 0; i < other.models.count(); i++) {
      other.copyTo(i, model);
      if (!isInUse(model)) {
        retireLeaves();
      }
    }
    if (other.high < page.high && isHeld(other.next)) {
      @Nullable ModelPage absorbed = context.pages.read(other.next);
      if (absorbed != null && absorbed.low == other.high + 1) {
        context.pages.retire(other.next);
      }
    }
  }

  /** Returns whether the page that has the model's keys now names it: it may be another page. */
  private boolean isInUse(ModelView some) {
    ModelArrays models = page(some.low).models;
    int found = models.find(some.low);
    return models.places[found] == some.place && models.stamps[found] == some.stamp;
  }

  private void retireLeaves() {
    int bytes = model.leaves() * server.leaves.bytes();
    worker.read(server.runs.leafAddress(model.place, 0), context.leaves, bytes);
    Words.set(memory, context.words, RolexLeafLayout.RETIRED);
    list.clear();
    for (int i = 0; i < model.leaves(); i++) {
      leaf.set(i, context.leaf(i), server.runs.leafAddress(model.place, i), model.stamp);
      if (server.leaves.isWhole(memory, leaf.image, leaf.identity())) {
        list.write(leaf.address + RolexLeafLayout.CHECKSUM, context.words, Long.BYTES);
      }
    }
    if (list.size() > 0 && !PlantedBug.UNLOCKED_ALONE) {
      worker.post(list);
    }
  }

  private void mendRun() {
    if (server.options.writesByCall()) {
      thaw();
    } else if (isHeld(model.run())) {
      Words.set(memory, context.words, context.chains.countsOf(model, context.leaf));
      worker.write(model.run() + RunLayout.COUNTS, context.words, Long.BYTES);
    }
  }

  private void thaw() {
    worker.read(model.run() + RunLayout.GATE, context.words, Long.BYTES);
    if (RunLayout.isFrozenBy(lost, Words.get(memory, context.words), model.place)) {
      Words.set(memory, context.words, model.place);
      worker.write(model.run() + RunLayout.GATE, context.words, Long.BYTES);
    }
  }
}
