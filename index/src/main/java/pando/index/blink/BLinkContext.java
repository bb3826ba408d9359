package pando.index.blink;

import pando.fabric.Fabric;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;
import pando.index.lock.SessionLocks;
import pando.index.pool.Catalogue;

/** What the parts of one worker of a B-link tree share: verbs, and places of nodes locally. */
public abstract class BLinkContext extends WorkerContext {
  /** Leaves READ together in a scan. */
  public static final int PARALLEL = 16;

  /** Reads and replaces the root. */
  public final Catalogue catalogue;

  /** Where the leaf of an operation starts. */
  public final long leaf;

  /** Where a node beside another starts: a new one, or one to merge with. */
  public final long sibling;

  /** Where nodes on the way down start. */
  public final long inner;

  /** Where a node starts to which a change below is made known. */
  public final long parent;

  /** Where the bytes start that the system needs besides. */
  protected final long own;

  private final BLinkServer tree;
  private final long scanned;
  private final long scannedWords;

  /**
   * Registers local memory.
   *
   * @param ownBytes that the system needs besides
   */
  protected BLinkContext(BLinkServer server, Fabric fabric, long ownBytes) {
    LocalMemory local = new LocalMemory();
    this.leaf = local.region(server.nodeBytes);
    this.sibling = local.region(server.nodeBytes);
    this.inner = local.region(server.nodeBytes);
    this.parent = local.region(server.nodeBytes);
    this.scanned = local.region((long) PARALLEL * server.nodeBytes);
    this.scannedWords = local.region(2L * PARALLEL * Long.BYTES);
    this.own = local.region(ownBytes);
    super(fabric, local);
    this.tree = server;
    this.catalogue = new Catalogue(worker, message, server.places, server.system);
  }

  /** Returns what reads and writes nodes. */
  protected abstract BLinkNodes nodes();

  /** Returns the locks that the session holds. */
  protected abstract SessionLocks locks();

  final BLinkServer tree() {
    return tree;
  }

  /** Returns where one of the leaves side by side starts. */
  public final long scanned(int number) {
    return scanned + (long) number * tree.nodeBytes;
  }

  /** Returns where the word of a lock comes to that is read before one of those leaves. */
  public final long wordBefore(int number) {
    return scannedWords + 2L * number * Long.BYTES;
  }

  /** Returns where the word comes to that is read after it. */
  public final long wordAfter(int number) {
    return wordBefore(number) + Long.BYTES;
  }
}
