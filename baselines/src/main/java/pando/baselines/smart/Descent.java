package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.VerbList;
import pando.fabric.WaitLimit;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.bugs.PlantedBug;

/**
 * Goes down the tree to where a key is, or would be.
 *
 * <p><b>First by copies.</b> The copy with the longest prefix of the path has a slot for the next
 * byte. If that leads to a live leaf with the key, this is the answer, as there is one such leaf at
 * the most. If it leads to an inner node that is live and on the path, the node is READ, becomes a
 * copy, and the descent goes on from it: nodes say by themselves what they are for.
 *
 * <p><b>Then by what is there now.</b> No copy can say that a key is absent, and no copy shows
 * where to change the tree. For that the node of the last copy is READ again. It counts if it has
 * the copy's id, is live and is not frozen. For then, since the copy was made, its place has been
 * no other node's, and is none's before the operation ends: so its slots are of one node, though
 * they were not READ at one moment. The slots are followed down: what a slot leads to that was READ
 * now is in the tree. A leaf to which the copy led, and which was live when it was READ, is not
 * READ again if its slot still leads there: its place is no other leaf's before the operation ends.
 *
 * <p>A node that turns out to be frozen is {@linkplain Replacing replaced} before the descent goes
 * on; one that is linked, and not live yet, is made live. Where a frozen node cannot be replaced,
 * because the pool is full or another compute server does that, the descent goes on through it. The
 * slot that led to it is READ again: if it is the same, the node was in the tree when it was READ.
 * Such a path is good for reads and for changes of leaves; no slot of it is changed.
 */
final class Descent {
  /** Greatest number of nodes of a descent, and one more that is not on the path. */
  static final int LEVELS_MAX = KeyPath.BYTES + 1;

  /** Where a descent ends. */
  enum End {
    /** At a leaf with the key, which is live if it was reached by a copy. */
    LEAF,
    /** At a slot with a leaf of another key. */
    OTHER,
    /** At a node that has no slot for the next byte. */
    NONE,
    /** At a slot whose child was removed. */
    EMPTY,
    /** At a slot with a node that is not on the path: it is one level further down. */
    ASIDE,
    /** Nowhere, as something changed meanwhile. */
    AGAIN
  }

  private static final String WHAT = "nodes of a tree keep changing on the way to key";

  private final SmartContext context;
  private final SmartServer server;
  private final Worker worker;
  private final Backoff backoff;
  private final MemorySegment memory;
  private final Leaves leaves;
  private final Copy copy = new Copy();
  private final VerbList list = new VerbList();
  private final long[] addresses = new long[LEVELS_MAX];
  private final int[] indexes = new int[LEVELS_MAX];

  /** What {@link HeldPlaces#number} was before each node was READ. */
  private final int[] numbers = new int[LEVELS_MAX];

  private int levels;
  private long leafAddress;

  /** A live leaf that need not be READ again, {@link GlobalAddress#NULL} for none. */
  private long liveLeaf;

  /** Whether a node of the path is frozen, by level. */
  private final boolean[] frozen = new boolean[LEVELS_MAX];

  /** Why a frozen node of the path was not replaced. */
  private @Nullable PoolFullException full;

  /** Whether the leaf at the end is READ. */
  private boolean wantsLeaf = true;

  Descent(SmartContext context) {
    this.context = context;
    this.server = context.server;
    this.worker = context.worker;
    this.backoff = worker.backoff();
    this.memory = context.memory;
    this.leaves = context.leaves;
  }

  /** Goes down to a key, by copies as far as they lead. */
  End find(long path) {
    return find(path, false, KeyPath.BYTES);
  }

  /**
   * Goes down to a key by nodes that are READ now: {@link #levels} says how many.
   *
   * @param below the first of them has a path of fewer bytes; 1 for the root
   */
  End findNow(long path, int below) {
    return find(path, true, below);
  }

  /** Goes down to the last node on the path, as {@link #findNow}, and READs no leaf. */
  void findNodes(long path, int below) {
    wantsLeaf = false;
    try {
      find(path, true, below);
    } finally {
      wantsLeaf = true;
    }
  }

  private End find(long path, boolean now, int below) {
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      End end = tryToFind(path, now, below);
      if (end != End.AGAIN) {
        return end;
      }
      context.counters.restarts++;
      start = WaitLimit.SHORT.pauseBriefly(backoff, attempt, start, WHAT, KeyPath.key(path));
    }
  }

  private End tryToFind(long path, boolean now, int below) {
    levels = 0;
    full = null;
    liveLeaf = GlobalAddress.NULL;
    if (!server.cache.find(path, below, copy, backoff)) {
      beginAtRoot();
    } else {
      End end = now ? End.AGAIN : followCopies(path);
      if (end != End.AGAIN) {
        return end;
      }
      if (!beginByCopy(now)) {
        return End.AGAIN;
      }
    }
    levels = 1;
    return goDown(path);
  }

  /** Follows copies; returns where they end the descent, AGAIN if they cannot show that. */
  private End followCopies(long path) {
    while (Slot.kind(copy.slot) == Slot.NODE) {
      if (!copyChild(path)) {
        return End.AGAIN;
      }
    }
    End end = Slot.kind(copy.slot) == Slot.LEAF ? leafOfCopy(path) : End.AGAIN;
    return end == End.AGAIN && PlantedBug.SMART_ABSENT_FROM_COPY ? End.NONE : end;
  }

  /** READs the leaf to which the copy leads; returns AGAIN if it shows nothing. */
  private End leafOfCopy(long path) {
    leafAddress = Slot.address(copy.slot);
    if (!leaves.readOnce(leafAddress)) {
      return End.AGAIN;
    }
    liveLeaf = leafAddress;
    if (LeafLayout.key(memory, context.leaf) == KeyPath.key(path)) {
      context.counters.leafHits++;
      return End.LEAF;
    }
    return beginByReverse() ? End.OTHER : End.AGAIN;
  }

  /** Returns whether the leaf of another key confirms the copy, which then stands for the node. */
  private boolean beginByReverse() {
    addresses[0] = copy.address;
    indexes[0] = copy.index;
    numbers[0] = context.held.number(copy.address);
    // The cache may have a newer copy by now, of which the leaf says nothing.
    if (!context.reverse.confirm(slotAddress(0))
        || !context.copies.takeOld(copy, context.image(0))
        || slot(0) != copy.slot) {
      return false;
    }
    frozen[0] = false;
    levels = 1;
    return true;
  }

  /** READs the node that a copy leads to, and goes on to it; returns whether it is on the path. */
  private boolean copyChild(long path) {
    long address = Slot.address(copy.slot);
    long image = context.image(0);
    if (!server.places.isNodeAddress(address)) {
      return false;
    }
    read(0, address, Slot.nodeBytes(copy.slot));
    long header = NodeLayout.header(memory, image);
    int depth = NodeLayout.depth(header);
    if (!canBegin(header)
        || depth <= copy.depth()
        || !KeyPath.startsWith(path, NodeLayout.prefix(header), depth)) {
      return false;
    }
    context.copies.admit(image, address, numbers[0]);
    copy.set(memory, image, address, path);
    return true;
  }

  private void beginAtRoot() {
    context.checkPlace(server.root(), NodeLayout.BYTES_MAX);
    read(0, server.root(), NodeLayout.BYTES_MAX);
    long header = NodeLayout.header(memory, context.image(0));
    if (!canBegin(header) || NodeLayout.depth(header) != 0) {
      throw corrupt(server.root(), header, "no root");
    }
  }

  /**
   * READs the node of the copy again, unless the copy is current; returns whether the descent can
   * begin there.
   *
   * @param withLeaf whether a leaf to which the copy leads is READ, too
   */
  private boolean beginByCopy(boolean withLeaf) {
    long image = context.image(0);
    addresses[0] = copy.address;
    numbers[0] = context.held.number(copy.address);
    if (context.copies.take(copy, image)) {
      frozen[0] = false;
      return true;
    }
    if (withLeaf && leadsToLeafBeside()) {
      readWithLeaf();
    } else {
      read(0, copy.address, NodeLayout.bytes(copy.type()));
    }
    long header = NodeLayout.header(memory, image);
    if (!canBegin(header) || !isOfCopy(image, header)) {
      server.cache.drop(copy, backoff);
      return false;
    }
    return true;
  }

  /** Returns whether the first node is live and can be changed. */
  private boolean canBegin(long header) {
    return NodeLayout.life(header) == NodeLayout.LIVE && NodeLayout.isLegal(header) && !frozen[0];
  }

  /** Returns whether the copy leads to a leaf that one list reaches together with the node. */
  private boolean leadsToLeafBeside() {
    long address = Slot.address(copy.slot);
    return wantsLeaf
        && Slot.kind(copy.slot) == Slot.LEAF
        && server.places.isNodeAddress(address)
        && SlotChanges.areTogether(address, copy.address);
  }

  /** READs the node of the copy, and the leaf to which the copy leads, in one list. */
  private void readWithLeaf() {
    long address = Slot.address(copy.slot);
    context.counters.innerReads++;
    context.counters.leafMisses++;
    int bytes = NodeLayout.bytes(copy.type());
    list.clear().read(copy.address, context.image(0), bytes);
    worker.post(leaves.addRead(list, address));
    complete(0, bytes);
    if (leaves.isWholeAndLive()) {
      liveLeaf = address;
    }
  }

  /**
   * Returns whether the node that was READ is that of the copy. Where words are READ one by one,
   * the id may still be that of a node whose place another one has got by now: so the path counts,
   * too.
   */
  private boolean isOfCopy(long image, long header) {
    return NodeLayout.id(memory, image) == copy.id
        && NodeLayout.depth(header) == copy.depth()
        && NodeLayout.prefix(header) == NodeLayout.prefix(copy.header);
  }

  private End goDown(long path) {
    while (true) {
      int level = levels - 1;
      long image = context.image(level);
      if (!frozen[level]) {
        context.copies.admit(image, addresses[level], numbers[level]);
      }
      long header = NodeLayout.header(memory, image);
      int depth = NodeLayout.depth(header);
      int wanted = KeyPath.byteAt(path, depth);
      int capacity = NodeLayout.capacity(NodeLayout.type(header));
      indexes[level] = NodeLayout.find(memory, image, capacity, wanted);
      if (indexes[level] < 0) {
        return End.NONE;
      }
      long slot = slot(level);
      switch (Slot.kind(slot)) {
        case Slot.LEAF -> {
          return wantsLeaf ? leaf(path, depth, Slot.address(slot)) : End.OTHER;
        }
        case Slot.NODE -> {
          End end = child(path, depth, slot);
          if (end != End.NONE) {
            return end;
          }
          levels++;
        }
        default -> {
          return End.EMPTY;
        }
      }
    }
  }

  private End leaf(long path, int depth, long address) {
    leafAddress = address;
    if (address != liveLeaf) {
      leaves.readLinked(address);
    }
    long found = KeyPath.of(LeafLayout.key(memory, context.leaf));
    if (KeyPath.common(found, path) <= depth) {
      throw new CorruptNodeException(
          address,
          "a leaf of another node: key=%s, wanted=%s, depth=%s"
              .formatted(KeyPath.key(found), KeyPath.key(path), depth));
    }
    return found == path ? End.LEAF : End.OTHER;
  }

  /** READs the child of the last node; returns NONE if the descent goes on there. */
  private End child(long path, int depth, long slot) {
    int level = levels;
    long image = context.image(level);
    long address = Slot.address(slot);
    context.checkPlace(address, LeafLayout.PLACE_BYTES);
    read(level, address, Slot.nodeBytes(slot));
    long header = NodeLayout.header(memory, image);
    long prefix = NodeLayout.prefix(header);
    int childDepth = NodeLayout.depth(header);
    if (!NodeLayout.isBelow(header, KeyPath.prefix(path, depth + 1), depth + 1)) {
      throw corrupt(address, header, "not the child at depth=" + depth);
    }
    if (NodeLayout.life(header) == NodeLayout.UNBORN) {
      context.replacing.makeLive(address, header);
      return End.AGAIN;
    }
    if (NodeLayout.life(header) == NodeLayout.DEAD) {
      return End.AGAIN;
    }
    if (!KeyPath.startsWith(path, prefix, childDepth)) {
      return End.ASIDE;
    }
    return frozen[level] && !passes(level, prefix, childDepth) ? End.AGAIN : End.NONE;
  }

  /**
   * Replaces a frozen node if that can be done; returns whether the path goes through it instead.
   */
  private boolean passes(int level, long prefix, int depth) {
    boolean can = context.buries || server.hasKeysBelow(prefix, depth);
    if (can && !frozen[level - 1]) {
      try {
        context.replacing.replace(this, level, 0);
        return false;
      } catch (PoolFullException e) {
        full = e;
      }
    }
    return isStillLinked(level);
  }

  /**
   * READs the slots again that lead to a node, from the one above it to that of a node that is not
   * frozen; returns whether they are as before.
   */
  private boolean isStillLinked(int level) {
    long again = context.newNode;
    for (int above = level - 1; ; above--) {
      context.counters.innerReads++;
      worker.read(addresses[above], again, (int) NodeLayout.offset(indexes[above]) + Long.BYTES);
      long now = NodeLayout.slot(memory, again, indexes[above]);
      if (!frozen[above]) {
        return now == slot(above)
            && NodeLayout.life(NodeLayout.header(memory, again)) == NodeLayout.LIVE;
      }
      if (Slot.thawed(now) != Slot.thawed(slot(above))) {
        return false;
      }
    }
  }

  /** READs so many bytes of a node, and the rest if it is larger. */
  private void read(int level, long address, int bytes) {
    addresses[level] = address;
    numbers[level] = context.held.number(address);
    context.counters.innerReads++;
    worker.read(address, context.image(level), bytes);
    complete(level, bytes);
  }

  /** READs the rest of a node of which so many bytes were READ, and notes whether it is frozen. */
  private void complete(int level, int bytes) {
    long image = context.image(level);
    context.readRestInPool(addresses[level], image, bytes);
    frozen[level] = NodeLayout.isFrozen(memory, image);
  }

  private static CorruptNodeException corrupt(long address, long header, String what) {
    return new CorruptNodeException(address, "%s: header=0x%x".formatted(what, header));
  }

  // What was found.

  /** Returns how many nodes were READ on the path, 0 if a copy led to the leaf. */
  int levels() {
    return levels;
  }

  /** Returns the address of a node of the path, from 0 for the uppermost one that was READ. */
  long address(int level) {
    return addresses[level];
  }

  /** Returns whether a node of the path is frozen: its slots must not be changed. */
  boolean isFrozen(int level) {
    return frozen[level];
  }

  /** Returns whether any node of the path is frozen. */
  boolean hasFrozen() {
    boolean has = false;
    for (int level = 0; level < levels; level++) {
      has |= frozen[level];
    }
    return has;
  }

  /**
   * Checks that slots of the path can be changed.
   *
   * @throws PoolFullException if there was no room to replace a frozen node
   */
  void checkUnfrozen() {
    if (full != null) {
      throw full;
    }
  }

  /** Returns the number of the slot that the descent took in a node, -1 for none. */
  int index(int level) {
    return indexes[level];
  }

  /** Returns the address of the slot that the descent took in a node. */
  long slotAddress(int level) {
    return addresses[level] + NodeLayout.offset(indexes[level]);
  }

  /** Returns the slot that the descent took in a node. */
  long slot(int level) {
    return NodeLayout.slot(memory, context.image(level), indexes[level]);
  }

  /** Returns the number of bytes of the path of a node. */
  int depth(int level) {
    return NodeLayout.depth(NodeLayout.header(memory, context.image(level)));
  }

  /** Returns whether this compute server alone changes a node. */
  boolean isOwned(int level) {
    long header = NodeLayout.header(memory, context.image(level));
    return server.owns(NodeLayout.prefix(header), NodeLayout.depth(header));
  }

  /** Returns what {@link HeldPlaces#number} was before a node was READ. */
  int number(int level) {
    return numbers[level];
  }

  /** Returns the address of the leaf that was READ last. */
  long leafAddress() {
    return leafAddress;
  }
}
