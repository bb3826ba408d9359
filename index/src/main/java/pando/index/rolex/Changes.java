package pando.index.rolex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.lock.NodeLocks;
import pando.index.session.Operation;

/** Changes entries of the leaf that {@link Leaves#lock} has found, and of its chain. */
final class Changes {
  /*
   * An entry goes into its leaf while that has room, else into the first synonym leaf with room, else
   * into a new one right behind the leaf. It stays there: so the model stays right, and readers
   * need no lock. A synonym leaf that loses its last entry is unlinked, retired, and given back.
   *
   * All changes and the unlock go out in one doorbell list, in the order in which they may be seen.
   * After a failure, changes are written again while the lock is still held in the pool; if it is
   * not, the list had come to its end.
   */

  private static final int CHANGES_MAX = 3;
  private static final int ATTEMPTS_MAX = 100;

  /** Synonym leaves in one chain that make a model due. */
  static final int HOPS_DUE = 2;

  private final RolexServer server;
  private final LeafLayout layout;
  private final NodeLocks locks;
  private final Chains chains;
  private final Leaves leaves;
  private final Worker worker;
  private final MemorySegment memory;
  private final long roomy;
  private final long previous;
  private final long counted;
  private final long message;
  private final VerbList list = new VerbList();

  /** What was changed: leaves in local memory, their addresses, and bytes to write. */
  private final long[] images = new long[CHANGES_MAX];

  private final long[] addresses = new long[CHANGES_MAX];
  private final int[] lengths = new int[CHANGES_MAX];
  private int count;

  /** Whether the list begins with a count. */
  private boolean counts;

  private boolean begun;
  private boolean due;
  private long before;

  private long roomyAddress;
  private long previousImage;
  private long previousAddress;

  Changes(RolexContext context, Leaves leaves) {
    this.server = context.server;
    this.layout = server.leaves;
    this.locks = context.locks;
    this.chains = context.chains;
    this.leaves = leaves;
    this.worker = context.worker;
    this.memory = context.memory;
    this.roomy = context.leaf;
    this.previous = context.run;
    this.counted = context.words;
    this.message = context.message;
  }

  /** Forgets about earlier changes. */
  void reset() {
    count = 0;
    begun = false;
    counts = false;
    due = false;
    before = 0;
  }

  /** Returns the value that the last change found. */
  long before() {
    return before;
  }

  /** Tells whether some of the last change may have been written. */
  boolean hasBegun() {
    return begun;
  }

  /**
   * Carries out an operation and lets go of the lock.
   *
   * @return whether the key was there before
   */
  boolean write(Operation operation, long key, long value) {
    long leaf = find(key);
    boolean found = leaf >= 0;
    int index = found ? LeafLayout.find(memory, leaf, key) : -1;
    before = found ? LeafLayout.value(memory, leaf, index) : 0;
    if (found && operation == Operation.REMOVE) {
      remove(leaf, index);
    } else if (found && operation.stores(true)) {
      LeafLayout.setValue(memory, leaf, index, value);
      change(leaf, addressOf(leaf), LeafLayout.bytesTo(index + 1));
      post();
    } else if (operation.stores(found)) {
      add(key, value);
    } else {
      leaves.unlock();
    }
    return found;
  }

  /** Has the model retrained if the last change made that due. */
  void tell(long key) {
    if (due) {
      server.retrain(key);
    }
  }

  /** Returns the leaf of the chain that has a key, -1 where none has; takes note of room. */
  private long find(long key) {
    roomyAddress = GlobalAddress.NULL;
    previousImage = leaves.leaf;
    previousAddress = leaves.address;
    chains.begin(leaves.slot, leaves.leaf, leaves.address, leaves.model.stamp);
    if (LeafLayout.find(memory, leaves.leaf, key) >= 0) {
      return leaves.leaf;
    }
    for (chains.start(); chains.hasLeaf(); chains.next()) {
      long image = chains.image();
      if (LeafLayout.find(memory, image, key) >= 0) {
        return image;
      }
      if (roomyAddress == GlobalAddress.NULL && !layout.isFull(memory, image)) {
        roomyAddress = chains.address();
        MemorySegment.copy(memory, image, memory, roomy, layout.bytes());
      }
      previousAddress = chains.address();
      previousImage = previous;
      MemorySegment.copy(memory, image, memory, previous, layout.bytes());
    }
    if (!chains.isWhole()) {
      throw chains.corrupt(key);
    }
    due = chains.hops() >= HOPS_DUE;
    return -1;
  }

  private long addressOf(long leaf) {
    return leaf == leaves.leaf ? leaves.address : chains.address();
  }

  private void add(long key, long value) {
    boolean inLeaf = !layout.isFull(memory, leaves.leaf);
    if (!inLeaf && roomyAddress == GlobalAddress.NULL) {
      addSynonym(key, value);
      return;
    }
    long target = inLeaf ? leaves.leaf : roomy;
    boolean wasEmpty = inLeaf && isEmpty();
    int index = -1 - LeafLayout.find(memory, target, key);
    LeafLayout.insert(memory, target, index, key, value);
    change(target, inLeaf ? leaves.address : roomyAddress, LeafLayout.usedBytes(memory, target));
    if (wasEmpty) {
      count(RunLayout.EMPTIES, -1);
    }
    post();
  }

  private boolean isEmpty() {
    return LeafLayout.count(memory, leaves.leaf) == 0
        && LeafLayout.link(memory, leaves.leaf) == GlobalAddress.NULL;
  }

  /** Puts an entry into a new synonym leaf, which is linked in right behind the leaf. */
  private void addSynonym(long key, long value) {
    long leaf = leaves.leaf;
    int memoryServer = GlobalAddress.server(leaves.address);
    long synonym = server.allocator.allocateSynonym(worker, message, memoryServer);
    LeafLayout.format(
        memory,
        roomy,
        LeafLayout.low(memory, leaf),
        LeafLayout.high(memory, leaf),
        LeafLayout.link(memory, leaf));
    LeafLayout.append(memory, roomy, key, value);
    LeafLayout.setLink(memory, leaf, synonym);
    change(roomy, synonym, LeafLayout.usedBytes(memory, roomy));
    change(leaf, leaves.address, LeafLayout.HEADER_BYTES);
    count(RunLayout.SYNONYMS, 1);
    try {
      post();
    } finally {
      if (!begun) {
        server.allocator.freeSynonym(worker, message, synonym);
      }
    }
    due |= Words.get(memory, counted) + 1 >= server.synonymsMax(leaves.model.leaves());
    server.synonyms.set(leaves.address, synonym);
  }

  private void remove(long leaf, int index) {
    LeafLayout.delete(memory, leaf, index);
    boolean emptied = LeafLayout.count(memory, leaf) == 0;
    if (emptied && leaf != leaves.leaf) {
      removeSynonym(leaf);
      return;
    }
    change(leaf, addressOf(leaf), LeafLayout.usedBytes(memory, leaf));
    boolean empty = emptied && isEmpty();
    if (empty) {
      count(RunLayout.EMPTIES, 1);
    }
    post();
    due |= empty && 2 * (Words.get(memory, counted) + 1) >= leaves.model.leaves();
  }

  private void removeSynonym(long leaf) {
    long synonym = chains.address();
    LeafLayout.setLink(memory, previousImage, LeafLayout.link(memory, leaf));
    change(previousImage, previousAddress, LeafLayout.HEADER_BYTES);
    change(leaf, synonym, Long.BYTES);
    LeafLayout.retire(memory, leaf);
    count(RunLayout.SYNONYMS, -1);
    post();
    server.allocator.freeSynonym(worker, message, synonym);
    if (previousAddress == leaves.address) {
      server.synonyms.set(leaves.address, LeafLayout.link(memory, previousImage));
    }
  }

  /** Takes note that a leaf has changed, of which some bytes from its start are to be written. */
  private void change(long image, long address, int bytes) {
    LeafLayout.seal(memory, image, LeafLayout.identity(address, leaves.model.stamp));
    images[count] = image;
    addresses[count] = address;
    lengths[count] = bytes;
    count++;
  }

  /** Adds to a count of the run. */
  private void count(int word, long more) {
    list.clear().faa(leaves.model.run() + word, more, counted);
    counts = true;
  }

  /** Writes what has changed, and lets go of the lock. */
  private void post() {
    int memoryServer = GlobalAddress.server(leaves.address);
    if (!counts) {
      list.clear();
    }
    counts = false;
    for (int i = 0; i < count; i++) {
      if (GlobalAddress.server(addresses[i]) != memoryServer) {
        postOneByOne();
        return;
      }
    }
    for (int i = 0; i < count; i++) {
      list.write(addresses[i], images[i], lengths[i]);
    }
    begun = true;
    locks.writeAndUnlock(leaves.model.run(), list);
  }

  /** Nothing is ordered between memory servers, so each WRITE waits for the one before. */
  private void postOneByOne() {
    begun = true;
    for (int i = 0; i < count; i++) {
      worker.write(addresses[i], images[i], lengths[i]);
    }
    locks.writeAndUnlock(leaves.model.run(), list);
  }

  /** Writes again, after a failure, what has changed, while the lock is still held. */
  void mend(RuntimeException failure) {
    for (int attempt = 0; begun && attempt < ATTEMPTS_MAX; attempt++) {
      try {
        if (locks.isStillOurs(leaves.model.run())) {
          for (int i = 0; i < count; i++) {
            worker.write(addresses[i], images[i], lengths[i]);
          }
        }
        return;
      } catch (PandoException e) {
        failure.addSuppressed(e);
        worker.backoff().pauseBriefly(attempt);
      }
    }
    if (begun) {
      locks.keep();
      failure.addSuppressed(
          new StalledException(
              "a change stopped half-way, and keeps its model locked: run="
                  + RunLayout.toString(leaves.model.place)));
    }
  }
}
