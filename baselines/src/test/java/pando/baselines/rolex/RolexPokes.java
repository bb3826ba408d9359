package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import pando.baselines.lock.LockTables;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.Pokes;
import pando.index.host.DescentCounters;
import pando.index.pool.Catalogue;

/** Reads and damages leaves, and pages of models, of an index of ROLEX, and their locks. */
public final class RolexPokes implements Pokes {
  private static final int FIRST_PLACE = 48;
  private static final int MODEL_BYTES = 32;

  private final RolexServer server;
  private final int nodeBytes;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final MemorySegment memory;
  private final Catalogue catalogue;
  private final ModelPages pages;

  /** Opens a pool. */
  public RolexPokes(Fabric fabric, RolexOptions options) {
    this.server =
        new RolexServer(0, fabric, options.with("retraining", "off"), new SplittableRandom(0));
    this.nodeBytes = options.nodeBytes();
    this.registered = fabric.register(2L * nodeBytes + Worker.CALL_BYTES_MAX);
    this.worker = fabric.worker(registered);
    this.memory = registered.segment();
    this.pages = new ModelPages(server, worker, new DescentCounters(), nodeBytes, 2L * nodeBytes);
    this.catalogue =
        new Catalogue(worker, 2L * nodeBytes, server.nodePlaces, RolexServer.system(options));
  }

  /** Returns the address of the leaf of a key, and that of the page with its model. */
  @Override
  public long[] path(long key) {
    ModelPage page = page(key);
    long place = page.models.places[page.models.find(key)];
    for (int i = 0; i < RunLayout.leaves(place); i++) {
      long address = server.runs.leafAddress(place, i);
      worker.read(address, 0, server.leaves.bytes());
      if (RolexLeafLayout.covers(memory, 0, key)) {
        return new long[] {address, page.address};
      }
    }
    throw new AssertionError("no leaf covers the key " + key);
  }

  /** Returns the page with the model of a key. */
  ModelPage page(long key) {
    ModelPage page = read(Catalogue.rootAddress(catalogue.root()));
    while (page.high < key) {
      page = read(page.next);
    }
    return page;
  }

  /** Reads a page. */
  ModelPage read(long address) {
    @Nullable ModelPage page = pages.read(address);
    if (page == null) {
      throw new AssertionError("no page at " + GlobalAddress.toString(address));
    }
    return page;
  }

  /** Writes a page with the same edition, whatever it says. */
  void write(ModelPage page) {
    pages.write(page);
  }

  /** Returns the place of the run of a key. */
  long place(long key) {
    ModelPage page = page(key);
    return page.models.places[page.models.find(key)];
  }

  private boolean isPage(long address) {
    @Nullable ModelPage page = page(Long.MIN_VALUE);
    while (page.address != address && page.next != GlobalAddress.NULL) {
      page = read(page.next);
    }
    return page.address == address;
  }

  /** Leaves are shorter than pages: behind a leaf there are zeros. */
  @Override
  public byte[] peek(long address) {
    int bytes = isPage(address) ? nodeBytes : Math.min(nodeBytes, server.leaves.bytes());
    byte[] node = new byte[nodeBytes];
    worker.read(address, 0, bytes);
    MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, node, 0, bytes);
    return node;
  }

  @Override
  public void poke(long address, byte[] bytes, boolean sealed) {
    boolean page = isPage(address);
    int length = page ? nodeBytes : Math.min(nodeBytes, server.leaves.bytes());
    MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, length);
    if (sealed && page) {
      sealPage(address);
    } else if (sealed && RolexLeafLayout.count(memory, 0) <= server.leaves.delta()) {
      RolexLeafLayout.seal(
          memory, 0, RolexLeafLayout.identity(address, stamp(RolexLeafLayout.low(memory, 0))));
    }
    worker.write(address, 0, length);
  }

  /** Returns the stamp of the leaves of a key's model. */
  long stamp(long key) {
    ModelPage page = page(key);
    return page.models.stamps[page.models.find(key)];
  }

  private void sealPage(long address) {
    long image = imageOf();
    int models = PageLayout.models(memory, image);
    if (models < 0 || models > server.pages.capacity()) {
      return; // Whatever the checksum, there are no such pages.
    }
    PageLayout.seal(
        memory,
        image,
        address,
        PageLayout.low(memory, image),
        PageLayout.high(memory, image),
        PageLayout.next(memory, image),
        models);
  }

  private long imageOf() {
    return server.pages.imageOffset(PageLayout.edition(memory, 0));
  }

  /** Of a leaf, the least key of its model: leaves of a run are told apart by their fences. */
  @Override
  public long low(long address) {
    if (isPage(address)) {
      return read(address).low;
    }
    worker.read(address, 0, server.leaves.bytes());
    long key = RolexLeafLayout.low(memory, 0);
    ModelPage page = page(key);
    return page.models.lows[page.models.find(key)];
  }

  /**
   * Of a page the greatest key there is: who does not know the pages behind it comes through it.
   */
  @Override
  public long high(long address) {
    if (isPage(address)) {
      return Long.MAX_VALUE;
    }
    worker.read(address, 0, server.leaves.bytes());
    long key = RolexLeafLayout.low(memory, 0);
    ModelPage page = page(key);
    return page.highOf(page.models.find(key));
  }

  @Override
  public int image() {
    return 0;
  }

  /** The place of a model's run, where the page has edition 0. */
  @Override
  public int slotAt(int index) {
    return PageLayout.HEADER_BYTES + FIRST_PLACE + index * MODEL_BYTES;
  }

  /** Returns the lock of a run or a page. */
  long lock(long address) {
    long lock = server.locks.lockOf(address);
    worker.read(server.locks.wordOf(lock), 0, Long.BYTES);
    return (Words.get(memory, 0) >>> server.locks.shiftOf(lock)) & LockTables.LOCK_MASK;
  }

  /** Has somebody hold the lock of a run or a page; nobody, if it is 0. */
  void setLock(long address, long holder) {
    long lock = server.locks.lockOf(address);
    long word = server.locks.wordOf(lock);
    int shift = server.locks.shiftOf(lock);
    worker.read(word, 0, Long.BYTES);
    long others = Words.get(memory, 0) & ~(LockTables.LOCK_MASK << shift);
    Words.set(memory, 0, others | (holder << shift));
    worker.write(word, 0, Long.BYTES);
  }

  @Override
  public void close() {
    worker.close();
    registered.close();
    server.stop();
  }
}
