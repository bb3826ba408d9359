package pando.baselines.deft;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.BLinkWalk;
import pando.baselines.blink.Children;
import pando.baselines.lock.LockTables;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.Tree;
import pando.index.pool.Catalogue;

/**
 * Walks a whole tree of DEFT. Also checks that each part of an inner node has its children, and
 * that no lock is held.
 */
final class DeftWalk extends BLinkWalk {
  private final DeftServer server;
  private final MemorySegment memory;

  private DeftWalk(DeftServer server, Worker worker, long scratch, boolean entries) {
    super(
        new DeftNodes(server, worker, scratch),
        server.inners.nodeBytes(),
        server.leaves.capacity(),
        server.inners.capacity(),
        entries);
    this.server = server;
    this.memory = worker.memory();
  }

  /**
   * Walks the tree of a pool.
   *
   * @param options the options with which the index was created
   * @param entries whether to keep the entries
   * @throws IllegalStateException if the pool holds no such index
   */
  static Tree of(Fabric fabric, DeftOptions options, boolean entries) {
    DeftValidation validation = DeftIndex.resolve(fabric, options);
    long message = options.nodeBytes();
    try (RegisteredMemory registered = fabric.register(message + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered);
        DeftServer server =
            new DeftServer(
                0,
                fabric,
                options.withCacheBytes(options.cacheBytesMin()),
                validation,
                worker.random(),
                new Drains())) {
      DeftWalk walk = new DeftWalk(server, worker, message, entries);
      Catalogue catalogue = new Catalogue(worker, message, server.places, server.system);
      catalogue.checkClaimed(options.nodeBytes(), options.system());
      boolean tickets = options.sxLocks();
      LockTables.forEachWord(
          fabric,
          worker,
          message,
          word -> tickets ? !SxWord.isIdle(word) : word != 0,
          walk::problem);
      return walk.walk(catalogue);
    }
  }

  @Override
  protected int copyEntries(long[] keys, long[] values) {
    return server.leaves.copySorted(memory, NODE, Long.MIN_VALUE, Long.MAX_VALUE, keys, values);
  }

  @Override
  protected Children children(long address, long low, long high) {
    Children children = copy(DeftShape.WHOLE, 0, low, high);
    int shape = InnerLayout.shape(NodeHeader.first(memory, NODE));
    for (int part = 0; part < DeftShape.parts(shape); part++) {
      checkPart(address, shape, part, children);
    }
    return children;
  }

  /** Checks that a part, read by itself, leads to the right child for each key in it. */
  private void checkPart(long address, int shape, int part, Children all) {
    Children own = copy(shape, part, all.low, all.high);
    for (int i = 0; i < all.count; i++) {
      long key = Math.max(all.keys[i], own.low);
      boolean asked =
          DeftShape.partOf(shape, all.low, key) == part && key <= all.high && key >= own.low;
      boolean next = i + 1 < all.count && all.keys[i + 1] <= key;
      if (asked && !next && own.pointers[own.childOf(key)] != all.pointers[i]) {
        problem(address, "part " + part + " does not know the child of key=" + key);
      }
    }
  }

  private Children copy(int shape, int part, long low, long high) {
    Children children = new Children(server.inners.capacity());
    server.inners.copyChildren(memory, NODE, shape, part, low, high, children);
    return children;
  }

  @Override
  protected long addressOf(long pointer) {
    return ChildPointer.address(pointer);
  }
}
