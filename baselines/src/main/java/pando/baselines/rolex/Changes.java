package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import pando.baselines.lock.NodeLocks;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.session.Request;

/** Changes entries of the leaf that {@link RolexLeaves#lock} has found, and of its chain. */
final class Changes {
  /*
   * An entry goes into its leaf while that has room, else into the first synonym leaf with room,
   * else into a new one right behind the leaf. Entries do not move to other leaves, so the model
   * stays right, and readers need no lock. A synonym leaf that loses its last entry is unlinked,
   * retired, and given back.
   *
   * All changes and the unlock go out in one doorbell list, in the order in which they may be seen.
   * After a failure, changes are written again while the lock is still held in the pool; if it is
   * not, the list had come to its end.
   */

  private static final int WRITES_MAX = 2;

  /** Number of synonym leaves in one chain at which a model is due for retraining. */
  static final int HOPS_DUE = 2;

  private final RolexServer server;
  private final RolexContext context;
  private final RolexLeafLayout layout;
  private final NodeLocks locks;
  private final Chains chains;
  private final RolexLeaves leaves;
  private final Worker worker;
  private final MemorySegment memory;
  private final VerbList list = new VerbList();

  private final LeafCursor leaf;

  /** The leaf that has the key, if any; one of the chain. */
  private LeafCursor holder;

  /** The leaf before the holder, or before the end of the chain. */
  private final LeafCursor previous = new LeafCursor();

  /** The first synonym leaf with room; its address is {@code NULL} if there is none. */
  private final LeafCursor roomy = new LeafCursor();

  /** What to write: addresses, where it starts in local memory, and how many bytes. */
  private final long[] addresses = new long[WRITES_MAX];

  private final long[] images = new long[WRITES_MAX];
  private final int[] lengths = new int[WRITES_MAX];
  private int writes;

  /** What is to be added to the counts of the run. */
  private long moreCounts;

  private boolean begun;
  private boolean due;
  private long before;

  Changes(RolexContext context, RolexLeaves leaves) {
    this.server = context.server;
    this.context = context;
    this.layout = server.leaves;
    this.locks = context.locks;
    this.chains = context.chains;
    this.leaves = leaves;
    this.leaf = leaves.leaf;
    this.holder = leaf;
    this.worker = context.worker;
    this.memory = context.memory;
  }

  /** Forgets earlier changes. Called at the start of an operation. */
  void reset() {
    writes = 0;
    moreCounts = 0;
    begun = false;
    due = false;
    before = 0;
  }

  /** Returns the value that the last change found. */
  long before() {
    return before;
  }

  /** Returns whether a part of the last change may have been written. */
  boolean hasBegun() {
    return begun;
  }

  /**
   * Carries out an operation and unlocks the model.
   *
   * @return whether the key was there before
   */
  boolean write(Request wanted) {
    boolean found = find(wanted.key());
    before = found ? RolexLeafLayout.value(memory, holder.image, holder.index) : 0;
    boolean stores = wanted.stores(found, before);
    if (wanted.removes(found, before)) {
      remove();
    } else if (found && stores) {
      RolexLeafLayout.setValue(memory, holder.image, holder.index, wanted.stored());
      change(holder, RolexLeafLayout.bytesTo(holder.index + 1));
      post();
    } else if (stores) {
      add(wanted.key(), wanted.stored());
    } else {
      leaves.unlock();
    }
    return found;
  }

  /** Asks for the model to be retrained if the last change made that due. */
  void retrainIfDue() {
    if (due) {
      server.retrain(leaves.model.low);
    }
  }

  /**
   * Searches the leaf of the chain that has a key, and one with room; returns whether the key was
   * found.
   */
  private boolean find(long key) {
    roomy.address = GlobalAddress.NULL;
    previous.set(leaf.slot, leaf.image, leaf.address, leaf.stamp);
    holder = leaf;
    chains.begin(leaf);
    if (leaf.find(memory, key)) {
      return true;
    }
    holder = chains.leaf();
    for (chains.start(); chains.hasLeaf(); chains.next()) {
      if (holder.find(memory, key)) {
        return true;
      }
      if (roomy.address == GlobalAddress.NULL && !layout.isFull(memory, holder.image)) {
        roomy.copy(memory, holder, context.leaf, layout.bytes());
      }
      previous.copy(memory, holder, context.run, layout.bytes());
    }
    if (!chains.isWhole()) {
      throw chains.corrupt(key);
    }
    due = chains.hops() >= HOPS_DUE;
    return false;
  }

  private void add(long key, long value) {
    boolean inLeaf = !layout.isFull(memory, leaf.image);
    if (!inLeaf && roomy.address == GlobalAddress.NULL) {
      addSynonym(key, value);
      return;
    }
    if (RolexLeafLayout.isEmpty(memory, leaf.image)) {
      moreCounts = RunLayout.counts(-1, 0);
    }
    LeafCursor target = inLeaf ? leaf : roomy;
    RolexLeafLayout.insert(memory, target.image, -1 - target.index, key, value);
    change(target, RolexLeafLayout.usedBytes(memory, target.image));
    post();
  }

  /** Puts an entry into a new synonym leaf, which is linked in right behind the leaf. */
  private void addSynonym(long key, long value) {
    int memoryServer = GlobalAddress.server(leaf.address);
    long synonym = server.allocator.allocateSynonym(worker, context.message, memoryServer);
    try {
      roomy.set(leaf.slot, context.leaf, synonym, leaf.stamp);
      RolexLeafLayout.format(
          memory,
          roomy.image,
          RolexLeafLayout.low(memory, leaf.image),
          RolexLeafLayout.high(memory, leaf.image),
          RolexLeafLayout.link(memory, leaf.image));
      RolexLeafLayout.append(memory, roomy.image, key, value);
      RolexLeafLayout.setLink(memory, leaf.image, synonym);
      change(roomy, RolexLeafLayout.usedBytes(memory, roomy.image));
      change(leaf, RolexLeafLayout.HEADER_BYTES);
      moreCounts = RunLayout.counts(0, 1);
      post();
    } finally {
      if (!begun) {
        server.allocator.freeSynonym(worker, context.message, synonym);
      }
    }
    due |= RunLayout.synonyms(counts()) >= server.synonymsMax(leaves.model.leaves());
    server.synonyms.set(leaf.address, synonym);
  }

  private void remove() {
    RolexLeafLayout.delete(memory, holder.image, holder.index);
    boolean unlinks = holder != leaf && RolexLeafLayout.count(memory, holder.image) == 0;
    if (unlinks) {
      RolexLeafLayout.setLink(memory, previous.image, RolexLeafLayout.link(memory, holder.image));
      change(previous, RolexLeafLayout.HEADER_BYTES);
      change(holder, Long.BYTES);
      RolexLeafLayout.retire(memory, holder.image);
    } else {
      change(holder, RolexLeafLayout.usedBytes(memory, holder.image));
    }
    boolean empties = RolexLeafLayout.isEmpty(memory, leaf.image);
    moreCounts = RunLayout.counts(empties ? 1 : 0, unlinks ? -1 : 0);
    post();
    due |= empties && 2 * RunLayout.empties(counts()) >= leaves.model.leaves();
    if (unlinks) {
      server.allocator.freeSynonym(worker, context.message, holder.address);
    }
    if (unlinks && previous.address == leaf.address) {
      server.synonyms.set(leaf.address, RolexLeafLayout.link(memory, leaf.image));
    }
  }

  /** Records a changed leaf, whose first {@code bytes} bytes are to be written. */
  private void change(LeafCursor changed, int bytes) {
    RolexLeafLayout.seal(memory, changed.image, changed.identity());
    addresses[writes] = changed.address;
    images[writes] = changed.image;
    lengths[writes] = bytes;
    writes++;
  }

  /** Writes what has changed, and unlocks the model. */
  private void post() {
    begun = true;
    long run = leaves.model.run();
    list.clear();
    if (moreCounts != 0) {
      list.faa(run + RunLayout.COUNTS, moreCounts, context.words);
    }
    if (isOfOneServer()) {
      for (int i = 0; i < writes; i++) {
        list.write(addresses[i], images[i], lengths[i]);
      }
    } else {
      // Nothing is ordered between memory servers, so each WRITE waits for the one before.
      writeAll();
    }
    locks.writeAndUnlock(run, list);
  }

  private boolean isOfOneServer() {
    int memoryServer = GlobalAddress.server(leaf.address);
    for (int i = 0; i < writes; i++) {
      if (GlobalAddress.server(addresses[i]) != memoryServer) {
        return false;
      }
    }
    return true;
  }

  private void writeAll() {
    for (int i = 0; i < writes; i++) {
      worker.write(addresses[i], images[i], lengths[i]);
    }
  }

  /** Returns the counts of the run, of which the last change has changed some. */
  private long counts() {
    return Words.get(memory, context.words) + moreCounts;
  }

  /** Writes again, after a failure, what has changed, while the lock is still held. */
  void mend() {
    if (begun) {
      locks.untilDone(worker, "a change of a leaf", leaf.address, this::writeAgain);
      locks.untilDone(worker, "a change of a leaf", leaf.address, this::countAgain);
    }
  }

  private void writeAgain() {
    if (locks.isStillOurs(leaves.model.run())) {
      writeAll();
    }
  }

  /**
   * Counts the run's empty leaves and synonym leaves again, as it is not known whether the counts
   * were changed.
   */
  private void countAgain() {
    ModelView model = leaves.model;
    if (moreCounts == 0 || !locks.isStillOurs(model.run())) {
      return;
    }
    Words.set(memory, context.words, chains.countsOf(model, context.leaf));
    worker.write(model.run() + RunLayout.COUNTS, context.words, Long.BYTES);
  }
}
