package pando.index.orca;

import pando.fabric.Fabric;
import pando.fabric.StalledException;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.leaf.LeafLayout;
import pando.index.session.Failures;

/** The verbs and the local memory of one worker, shared by its parts. */
final class OrcaContext extends WorkerContext {
  /** Records that are cleaned together. */
  static final int CLEANED_MAX = 32;

  /** Leaves that a merge writes together. */
  static final int IMAGES = 4;

  /** Pages that a merge writes together: one for each level, and halves. */
  static final int PAGES = 16;

  /** Pauses between two looks at the clock. */
  private static final int LOOK_EVERY = 64;

  /** Leaves that a scan READs together. */
  static final int SCANNED = 8;

  final OrcaServer server;

  /** Local offset of a segment that was READ. */
  final long segment;

  /** Local offset of values to WRITE, 8 bytes each. */
  final long values;

  /** Local offset of a whole leaf that was READ. */
  final long leaf;

  /** Local offset of leaves to WRITE. */
  final long images;

  /** Local offset of pages to WRITE. */
  final long pages;

  /** The key that the session has claimed. */
  final RecordClaim claim;

  /** The leaves that the session holds. */
  final HeldLeaves heldLeaves;

  private final long scanned;
  private long waitStart;

  OrcaContext(OrcaServer server, Fabric fabric) {
    LocalMemory local = new LocalMemory();
    this.segment = local.region(LeafLayout.SEGMENT_BYTES);
    this.values = local.region((long) CLEANED_MAX * Long.BYTES);
    this.leaf = local.region(server.options.nodeBytes());
    this.images = local.region((long) IMAGES * server.options.nodeBytes());
    this.pages = local.region((long) PAGES * DirectoryPage.BYTES);
    this.scanned = local.region((long) SCANNED * server.options.nodeBytes());
    this.server = server;
    super(fabric, local);
    this.claim = new RecordClaim(this, new Cleaner(this));
    this.heldLeaves = new HeldLeaves(this);
  }

  /**
   * Waits once more for what another session has.
   *
   * @param attempt number of pauses before, from 0
   * @param what is waited for, for the message
   * @param key that the operation needs, for the message
   * @throws StalledException if the session has waited too long
   */
  void pause(int attempt, String what, long key) {
    if (attempt == 0) {
      waitStart = worker.nanoTime();
    } else if (attempt % LOOK_EVERY == 0) {
      long waited = worker.nanoTime() - waitStart;
      if (waited > server.options.lockWaitNanos()) {
        throw new StalledException(
            "%s: key=%s, waitedNanos=%s, attempts=%s, computeServer=%s"
                .formatted(what, key, waited, attempt, server.number));
      }
    }
    worker.backoff().pauseBriefly(attempt);
  }

  /** Returns the local offset of a leaf to WRITE. */
  long image(int number) {
    return images + (long) number * server.options.nodeBytes();
  }

  /** Returns the local offset of a page to WRITE. */
  long page(int number) {
    return pages + (long) number * DirectoryPage.BYTES;
  }

  /** Returns the local offset of the segments of a leaf that a scan READs. */
  long scanned(int leaf) {
    return scanned + (long) leaf * server.options.nodeBytes();
  }

  @Override
  public void abandon(Throwable failure) {
    Failures failures = new Failures();
    failures.collect(claim::giveUp);
    failures.collect(heldLeaves::releaseAll);
    failures.join(failure);
  }
}
