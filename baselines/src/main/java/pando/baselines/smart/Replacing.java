package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.bugs.PlantedBug;

/**
 * Replaces an inner node: by one in a larger place, by a smaller one, by its only child, or by
 * nothing.
 *
 * <p><b>Freeze, build, swing.</b> (1) The header becomes sealed, which ends growth in place, and
 * every slot gets its frozen bit by an atomic, which returns the slot's last content. (2) A new
 * node is made of that, unborn. (3) A CAS puts it into the parent's slot; the new node becomes
 * live, the old one dead. All that others can do meanwhile fails at a frozen slot; they then do the
 * same from (1), and one of them wins the CAS. So there is no lock, and a client that stops in
 * between stops nobody.
 *
 * <p>A node that one compute server alone changes, in partitions, is locked locally instead, from
 * (1) until it is dead, and only its header is sealed.
 */
final class Replacing {
  private final SmartContext context;
  private final SmartServer server;
  private final Worker worker;
  private final MemorySegment memory;
  private final long built;
  private final VerbList list = new VerbList();

  /** The place that the new node gets, {@code NULL} for none, and the node's type. */
  private long reserved;

  private int reservedType;

  Replacing(SmartContext context) {
    this.context = context;
    this.server = context.server;
    this.worker = context.worker;
    this.memory = context.memory;
    this.built = context.newNode;
  }

  /** Makes a node live to which a slot leads that was READ now. */
  void makeLive(long address, long header) {
    long live = NodeLayout.withLife(header, NodeLayout.LIVE);
    worker.cas(address + NodeLayout.HEADER, header, live);
  }

  /**
   * Replaces a node of a descent, which is not its first; returns whether it did. If not, something
   * has changed meanwhile, and the node may be frozen: the next descent to it goes on.
   *
   * @param level of the node
   * @param more number of children that the new node has room for beside those of the image; -1 if
   *     one of these was removed since
   * @throws PoolFullException if there is no room for the new node; the node may be frozen
   */
  boolean replace(Descent descent, int level, int more) {
    try {
      boolean replaced = tryToReplace(descent, level, more);
      context.held.unlock();
      return replaced;
    } catch (PoolFullException e) {
      context.held.unlock();
      throw e;
    }
  }

  private boolean tryToReplace(Descent descent, int level, int more) {
    long image = context.image(level);
    long node = descent.address(level);
    // Before the node is frozen: a full pool leaves it as it is.
    reserve(children(image) + more, node);
    try {
      if (!freeze(descent, level, image)) {
        return false;
      }
      int children = children(image);
      reserve(children > 1 ? children + Math.max(0, more) : children, node);
      long parent = descent.slotAddress(level - 1);
      long before = descent.slot(level - 1);
      long place = reserved;
      // Unless it is known not to be linked, it is not free.
      reserved = GlobalAddress.NULL;
      boolean swung =
          children > 1
              ? swingToNode(level - 1, parent, before, image, place)
              : swing(level - 1, parent, before, onlyChild(image, before));
      if (swung) {
        markDead(node, image);
      } else {
        reserved = place;
      }
      return swung;
    } finally {
      unreserve();
    }
  }

  /**
   * Has a place ready for a node with so many children, or none where it needs no node. One that is
   * ready and too large stays; one too small is given back only when there is a larger one.
   */
  private void reserve(int children, long near) {
    if (children <= 1) {
      unreserve();
      return;
    }
    int type = NodeLayout.typeFor(Math.min(256, children));
    int bytes = server.reserve.placeBytes(type);
    int ready = reserved == GlobalAddress.NULL ? 0 : server.reserve.placeBytes(reservedType);
    if (ready < bytes) {
      long place = allocate(type, near);
      unreserve();
      reserved = place;
    }
    if (ready <= bytes) {
      reservedType = type;
    }
  }

  private void unreserve() {
    long place = reserved;
    if (place != GlobalAddress.NULL) {
      reserved = GlobalAddress.NULL;
      server.space.freeNode(reservedType, worker, context.message, place);
    }
  }

  private long allocate(int type, long near) {
    int memoryServer = GlobalAddress.server(near);
    return server.space.allocateNode(type, worker, context.message, memoryServer);
  }

  private int children(long image) {
    int capacity = NodeLayout.slots(memory, image);
    return NodeLayout.children(memory, image, capacity);
  }

  /**
   * Seals a node and freezes its slots; its image then has its last content, and its header.
   * Returns {@code false} if the node is dead already.
   */
  private boolean freeze(Descent descent, int level, long image) {
    long node = descent.address(level);
    if (descent.isOwned(level)) {
      return context.held.tryLock(node, descent.number(level)) && seal(node, image);
    }
    while (true) {
      long header = NodeLayout.header(memory, image);
      long sealed = NodeLayout.withLife(header, NodeLayout.SEALED);
      int capacity = NodeLayout.capacity(NodeLayout.type(header));
      postFreeze(node, header, sealed, capacity);
      long found = Words.get(memory, context.results);
      if (found == header || found == sealed) {
        Words.set(memory, image + NodeLayout.HEADER, sealed);
        for (int i = 0; i < capacity; i++) {
          long slot = Words.get(memory, context.results + NodeLayout.offset(i) - NodeLayout.HEADER);
          NodeLayout.setSlot(memory, image, i, Slot.thawed(slot));
        }
        return true;
      }
      if (NodeLayout.life(found) != NodeLayout.LIVE || !NodeLayout.isLegal(found)) {
        return false;
      }
      // It has grown meanwhile.
      Words.set(memory, image + NodeLayout.HEADER, found);
    }
  }

  /**
   * Seals a node that is locked locally: its image has its last content, as nobody else changes it.
   * So its slots need not be frozen.
   */
  private boolean seal(long node, long image) {
    context.copies.drop(image);
    long header = NodeLayout.header(memory, image);
    Words.set(memory, image + NodeLayout.HEADER, NodeLayout.withLife(header, NodeLayout.SEALED));
    worker.write(node + NodeLayout.HEADER, image + NodeLayout.HEADER, Long.BYTES);
    for (int i = 0; i < NodeLayout.capacity(NodeLayout.type(header)); i++) {
      NodeLayout.setSlot(memory, image, i, Slot.thawed(NodeLayout.slot(memory, image, i)));
    }
    return true;
  }

  private void postFreeze(long node, long header, long sealed, int capacity) {
    list.clear().cas(node + NodeLayout.HEADER, header, sealed, context.results);
    for (int i = 0; i < capacity; i++) {
      long result = context.results + NodeLayout.offset(i) - NodeLayout.HEADER;
      long slot = node + NodeLayout.offset(i);
      if (PlantedBug.SMART_UNFROZEN) {
        list.read(slot, result, Long.BYTES);
      } else {
        list.maskedCas(slot, 0, 0, Slot.FROZEN, Slot.FROZEN, result);
      }
    }
    worker.post(list);
  }

  /** Returns what the parent's slot becomes if there is one child, or none. */
  private long onlyChild(long image, long parentSlot) {
    int firstByte = Slot.byteOf(parentSlot);
    int capacity = NodeLayout.slots(memory, image);
    for (int i = 0; i < capacity; i++) {
      long slot = NodeLayout.slot(memory, image, i);
      if (Slot.hasChild(slot)) {
        return Slot.withByte(slot, firstByte);
      }
    }
    return Slot.empty(firstByte, worker.random().nextLong());
  }

  private boolean swing(int level, long parent, long before, long after) {
    if (!context.slotChanges.postAndSwap(list.clear(), level, parent, before, after)) {
      return false;
    }
    context.reverse.pointBack(after, parent);
    return true;
  }

  private boolean swingToNode(int level, long parent, long before, long image, long place) {
    int type = reservedType;
    long header = NodeLayout.header(memory, image);
    int capacity = NodeLayout.capacity(NodeLayout.type(header));
    beginNode(type, NodeLayout.depth(header), NodeLayout.prefix(header));
    int count = 0;
    for (int i = 0; i < capacity; i++) {
      long slot = NodeLayout.slot(memory, image, i);
      if (Slot.hasChild(slot)) {
        NodeLayout.setSlot(memory, built, count++, slot);
      }
    }
    long after = Slot.node(Slot.byteOf(before), type, place);
    addBuilt(list.clear(), type, place);
    if (!context.slotChanges.postAndSwap(list, level, parent, before, after)) {
      return false;
    }
    makeLive(place, NodeLayout.header(memory, built));
    context.reverse.pointAllBack(built, place);
    return true;
  }

  /** Makes an unborn node without children in local memory. */
  void beginNode(int type, int depth, long prefix) {
    memory.asSlice(built, NodeLayout.BYTES_MAX).fill((byte) 0);
    long header = NodeLayout.header(type, NodeLayout.UNBORN, depth, prefix);
    NodeLayout.begin(memory, built, server.nextId(), header);
  }

  /** Adds the WRITE of the node that was made, with all slots that its place has. */
  void addBuilt(VerbList verbs, int type, long place) {
    int bytes = Math.min(server.reserve.placeBytes(type), NodeLayout.BYTES_MAX);
    verbs.write(place, built, bytes);
  }

  private void markDead(long node, long image) {
    long sealed = NodeLayout.header(memory, image);
    Words.set(memory, context.words, NodeLayout.withLife(sealed, NodeLayout.DEAD));
    worker.write(node + NodeLayout.HEADER, context.words, Long.BYTES);
    server.space.restNode(NodeLayout.type(sealed), worker, context.message, node);
  }
}
