package pando.baselines.sherman;

import java.lang.foreign.MemorySegment;
import pando.baselines.blink.BLinkWalk;
import pando.baselines.blink.Children;
import pando.baselines.lock.LockTables;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.Tree;
import pando.index.pool.Catalogue;

/** Walks a whole tree of Sherman, and checks that no lock is held. */
final class ShermanWalk extends BLinkWalk {
  private final BLinkLayout layout;
  private final Worker worker;
  private final MemorySegment memory;

  private ShermanWalk(ShermanServer server, Worker worker, long scratch, boolean entries) {
    super(
        new ShermanNodes(server, worker, scratch),
        server.layout.nodeBytes(),
        server.layout.capacity(),
        server.layout.capacity(),
        entries);
    this.layout = server.layout;
    this.worker = worker;
    this.memory = worker.memory();
  }

  /**
   * Walks the tree of a pool.
   *
   * @param options the options with which the index was created
   * @param entries whether to keep the entries
   * @throws IllegalStateException if the pool holds no such index
   */
  static Tree of(Fabric fabric, ShermanOptions options, boolean entries) {
    BLinkLayout layout = new BLinkLayout(options.nodeBytes());
    ShermanValidation validation = ShermanIndex.resolve(fabric, options);
    long message = layout.nodeBytes();
    try (RegisteredMemory registered = fabric.register(message + Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(registered);
        ShermanServer server =
            new ShermanServer(
                0,
                fabric,
                options.withCacheBytes((long) ShermanOptions.FRAMES_MIN * layout.nodeBytes()),
                layout,
                validation,
                worker.random())) {
      ShermanWalk walk = new ShermanWalk(server, worker, message, entries);
      Catalogue catalogue = new Catalogue(worker, message, server.places, server.system);
      catalogue.checkClaimed(options.nodeBytes(), options.system());
      server.locks.forEachHeld(fabric, worker, message, walk::problem);
      return walk.walk(catalogue);
    }
  }

  /**
   * {@inheritDoc} Copies every entry in use, so that the caller detects keys that are there twice.
   */
  @Override
  protected int copyEntries(long[] keys, long[] values) {
    int count = 0;
    for (int i = 0; i < layout.capacity(); i++) {
      if (BLinkLayout.isPresent(memory, NODE, i)) {
        keys[count] = BLinkLayout.key(memory, NODE, i);
        values[count++] = BLinkLayout.slot(memory, NODE, i);
      }
    }
    return count;
  }

  @Override
  protected Children children(long address, long low, long high) {
    Children children = new Children(layout.capacity());
    layout.copyChildren(memory, NODE, children);
    return children;
  }

  @Override
  protected long addressOf(long pointer) {
    return pointer;
  }

  @Override
  protected void checkLock(long address) {
    worker.read(address + BLinkLayout.LOCK, NODE, Long.BYTES);
    if ((Words.get(memory, NODE) & LockTables.LOCK_MASK) != 0) {
      problem(address, "its lock is held");
    }
  }
}
