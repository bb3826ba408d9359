package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.baselines.smart.Descent.End;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.bugs.PlantedBug;

/**
 * Puts new leaves into the tree, where a descent has found that there is none.
 *
 * <p>A leaf is written unborn, and locked. The CAS of one slot links it: in a free slot, in the
 * slot that its byte had before, in place of a dead leaf, or together with a new node for it and
 * for what was in the slot. Then it is made live; before, nobody answers by it.
 */
final class Inserts {
  private final SmartContext context;
  private final SmartServer server;
  private final Worker worker;
  private final MemorySegment memory;
  private final LeafLocks locks;
  private final Replacing replacing;
  private final Descent descent;
  private final VerbList list = new VerbList();
  private final VerbList then = new VerbList();

  Inserts(SmartContext context) {
    this.context = context;
    this.server = context.server;
    this.worker = context.worker;
    this.memory = context.memory;
    this.locks = context.locks;
    this.replacing = context.replacing;
    this.descent = context.descent;
  }

  /** Forgets what was begun before. */
  void reset() {
    context.slotChanges.reset();
  }

  /** Returns whether a leaf may have been made live. */
  boolean hasBegun() {
    return context.slotChanges.mayHaveMadeLive();
  }

  /**
   * Inserts an entry where the last descent has ended; returns whether it did, as something may
   * have changed meanwhile.
   *
   * @throws pando.fabric.PoolFullException if there is no room for it
   */
  boolean tryInsert(End end, long key, long value) {
    descent.checkUnfrozen();
    int level = descent.levels() - 1;
    long path = KeyPath.of(key);
    return switch (end) {
      case NONE -> insertFree(level, path, value);
      case EMPTY -> insertAt(level, descent.slotAddress(level), descent.slot(level), path, value);
      case LEAF -> insertForDead(level, path, value);
      case OTHER -> isDead() ? insertForDead(level, path, value) : insertBeside(level, path, value);
      case ASIDE -> insertAbove(level, path, value);
      case AGAIN -> false;
    };
  }

  private boolean isDead() {
    return LeafLayout.life(LeafLayout.state(memory, context.leaf)) == LeafLayout.DEAD;
  }

  private boolean insertFree(int level, long path, long value) {
    long image = context.image(level);
    int capacity = NodeLayout.slots(memory, image);
    int free = firstFree(image, capacity);
    if (free < 0) {
      makeRoom(level);
      return false;
    }
    long slot = descent.address(level) + NodeLayout.offset(free);
    return insertAt(level, slot, NodeLayout.slot(memory, image, free), path, value);
  }

  private int firstFree(long image, int capacity) {
    for (int i = 0; PlantedBug.SMART_BYTE_MOVED && i < capacity; i++) {
      if (Slot.kind(NodeLayout.slot(memory, image, i)) == Slot.EMPTY) {
        return i;
      }
    }
    return NodeLayout.firstUnused(memory, image, capacity);
  }

  /** Gives a node more slots; the insert begins again. */
  private void makeRoom(int level) {
    long image = context.image(level);
    long header = NodeLayout.header(memory, image);
    int type = NodeLayout.type(header);
    if (type == NodeLayout.FULL) {
      throw new CorruptNodeException(
          descent.address(level), "256 slots and not every byte: header=0x%x".formatted(header));
    }
    if (server.reserve.growsInPlace(type, type + 1)) {
      growInPlace(level, header, type + 1);
    } else if (level > 0) {
      replacing.replace(descent, level, 1);
    }
  }

  private void growInPlace(int level, long header, int type) {
    long node = descent.address(level) + NodeLayout.HEADER;
    if (descent.isOwned(level)) {
      if (!context.held.tryLock(descent.address(level), descent.number(level))) {
        return;
      }
      context.copies.drop(context.image(level));
    }
    list.clear().cas(node, header, NodeLayout.withType(header, type), context.results);
    // What the parent's slot says is the least; that it lags behind costs another READ.
    long before = level > 0 ? descent.slot(level - 1) : Slot.NEVER;
    long after = Slot.withType(before, type);
    long slot = level > 0 ? descent.slotAddress(level - 1) : GlobalAddress.NULL;
    boolean parentOwned = level > 0 && descent.isOwned(level - 1);
    if (level > 0 && !parentOwned && SlotChanges.areTogether(node, slot)) {
      list.cas(slot, before, after, context.results + Long.BYTES);
    }
    worker.post(list);
    if (parentOwned) {
      context.slotChanges.postAndSwap(list.clear(), level - 1, slot, before, after);
    }
    context.held.unlock();
  }

  private boolean insertForDead(int level, long path, long value) {
    long dead = descent.leafAddress();
    if (!insertAt(level, descent.slotAddress(level), descent.slot(level), path, value)) {
      return false;
    }
    server.space.restLeaf(worker, context.message, dead);
    return true;
  }

  /** Links a leaf by a slot of a node of the descent, in place of what was in it. */
  private boolean insertAt(int level, long slot, long before, long path, long value) {
    long place = newLeaf(GlobalAddress.server(slot), path, value);
    long after = Slot.leaf(KeyPath.byteAt(path, descent.depth(level)), place);
    context.reverse.set(slot);
    list.clear().write(place, context.newLeaf, server.leafBytes);
    thenMakeLive(place);
    if (!context.slotChanges.postAndSwap(list, level, slot, before, after, then)) {
      giveBack(place);
      return false;
    }
    locks.forget();
    return true;
  }

  /** Links a node in place of a leaf, with that leaf and a new one. */
  private boolean insertBeside(int level, long path, long value) {
    long other = KeyPath.of(LeafLayout.key(memory, context.leaf));
    return insertWithNode(level, path, value, other);
  }

  /** Links a node above another one, with that one and a new leaf. */
  private boolean insertAbove(int level, long path, long value) {
    return insertWithNode(
        level, path, value, NodeLayout.prefix(NodeLayout.header(memory, context.image(level + 1))));
  }

  private boolean insertWithNode(int level, long path, long value, long other) {
    int memoryServer = server.space.serverBelow(descent.slotAddress(level));
    long node = server.space.allocateNode(0, worker, context.message, memoryServer);
    long place = GlobalAddress.NULL;
    boolean mayBeLinked = false;
    try {
      place = newLeaf(memoryServer, path, value);
      buildNode(node, descent.slot(level), other, path, place);
      mayBeLinked = true;
      mayBeLinked = linkNode(level, node, place);
    } finally {
      if (!mayBeLinked) {
        server.space.freeNode(0, worker, context.message, node);
      }
    }
    if (!mayBeLinked) {
      giveBack(place);
    }
    return mayBeLinked;
  }

  /** Makes the list that WRITEs a new leaf, and a node for it and for the child of a slot. */
  private void buildNode(long node, long slot, long other, long path, long place) {
    int depth = KeyPath.common(path, other);
    replacing.beginNode(0, depth, KeyPath.prefix(path, depth));
    NodeLayout.setSlot(
        memory, context.newNode, 0, Slot.withByte(slot, KeyPath.byteAt(other, depth)));
    NodeLayout.setSlot(memory, context.newNode, 1, Slot.leaf(KeyPath.byteAt(path, depth), place));
    context.reverse.set(node + NodeLayout.offset(1));
    replacing.addBuilt(list.clear().write(place, context.newLeaf, server.leafBytes), 0, node);
  }

  /** Links the node that was built, and makes it and its leaf live; returns whether it did. */
  private boolean linkNode(int level, long node, long place) {
    long slot = descent.slotAddress(level);
    long before = descent.slot(level);
    long after = Slot.node(Slot.byteOf(before), 0, node);
    long header = NodeLayout.header(memory, context.newNode);
    long childSlot = node + NodeLayout.offset(0);
    boolean isNodeBeside = SlotChanges.areTogether(node, place);
    boolean isChildBeside = SlotChanges.areTogether(Slot.address(before), place);
    thenMakeLive(place);
    if (isNodeBeside) {
      long liveHeader = NodeLayout.withLife(header, NodeLayout.LIVE);
      then.cas(node + NodeLayout.HEADER, header, liveHeader, context.results);
    }
    if (isChildBeside) {
      context.reverse.addPointBack(then, before, childSlot);
    }
    if (!context.slotChanges.postAndSwap(list, level, slot, before, after, then)) {
      return false;
    }
    if (!isChildBeside) {
      context.reverse.pointBack(before, childSlot);
    }
    if (!isNodeBeside) {
      replacing.makeLive(node, header);
    }
    locks.forget();
    return true;
  }

  /** Allocates a leaf, and makes it in local memory: unborn, locked. */
  private long newLeaf(int memoryServer, long path, long value) {
    long place = server.space.allocateLeaf(worker, context.message, memoryServer);
    int life = PlantedBug.SMART_BORN_LIVE ? LeafLayout.LIVE : LeafLayout.UNBORN;
    int owner = PlantedBug.SMART_BORN_LIVE ? 0 : context.owner;
    long state = LeafLayout.state(owner, life, worker.random().nextLong());
    LeafLayout.set(memory, context.newLeaf, KeyPath.key(path), value, state);
    locks.hold(place);
    return place;
  }

  /** Begins the list of what follows a change of a slot: the WRITE that makes a new leaf live. */
  private void thenMakeLive(long place) {
    long state = LeafLayout.state(memory, context.newLeaf);
    Words.set(memory, context.words, LeafLayout.with(state, 0, LeafLayout.LIVE));
    then.clear().write(place + LeafLayout.STATE, context.words, Long.BYTES);
  }

  /** Frees a leaf that was not linked. */
  private void giveBack(long place) {
    locks.forget();
    server.space.freeLeaf(worker, context.message, place);
  }
}
