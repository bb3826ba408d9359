package pando.baselines.blink;

import pando.baselines.lock.SessionLocks;
import pando.fabric.Fabric;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;
import pando.index.pool.Catalogue;

/** The verbs and the local node buffers of one worker of a B-link tree, shared by its parts. */
public abstract class BLinkContext extends WorkerContext {
  /** Maximum number of leaves that a scan READs together. */
  public static final int PARALLEL = 16;

  /** Reads and replaces the root. */
  public final Catalogue catalogue;

  /** Local offset of the buffer for an operation's leaf. */
  public final long leaf;

  /** Local offset of the buffer for a sibling: a new node, or the right one of a merge. */
  public final long sibling;

  /** Local offset of the buffer for inner nodes of a descent. */
  public final long inner;

  /** Local offset of the buffer for the parent of a node that is split or merged. */
  public final long parent;

  /** Local offset of the system's own bytes. */
  protected final long own;

  private final BLinkServer tree;
  private final long scanned;
  private final long scannedWords;

  /**
   * Registers local memory.
   *
   * @param ownBytes number of bytes for the system's own use, a multiple of 8
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

  /** Returns the reader and writer of nodes. */
  protected abstract BLinkNodes nodes();

  /** Returns the locks of the session. */
  protected abstract SessionLocks locks();

  @Override
  public final void abandon(Throwable failure) {
    locks().abandon(failure);
  }

  final BLinkServer tree() {
    return tree;
  }

  /** Returns the local offset of scan buffer {@code number}, from 0 to {@link #PARALLEL} - 1. */
  public final long scanned(int number) {
    return scanned + (long) number * tree.nodeBytes;
  }

  /**
   * Returns the local offset for the lock word that is read before leaf {@code number} of a scan.
   */
  public final long wordBefore(int number) {
    return scannedWords + 2L * number * Long.BYTES;
  }

  /**
   * Returns the local offset for the lock word that is read after leaf {@code number} of a scan.
   */
  public final long wordAfter(int number) {
    return wordBefore(number) + Long.BYTES;
  }
}
