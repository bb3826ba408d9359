package pando.index.orca;

import java.util.concurrent.atomic.LongAdder;
import pando.fabric.Backoff;
import pando.index.orca.images.ImageCache;
import pando.index.orca.parts.CacheParts;

/** The images as a holder of parts. */
final class ImageParts implements PartHolder {
  /** Time of a card for a READ of a pair of segments, in nanoseconds. */
  private static final long PAIR_NANOS = 25;

  private final ImageCache images;
  private final CacheParts parts;
  private final Backoff backoff;
  private final LongAdder pairsRead;

  /**
   * Creates the holder.
   *
   * @param pairsRead counts pairs of segments that scans READ
   */
  ImageParts(OrcaContext context, CacheParts parts, LongAdder pairsRead) {
    this.images = context.server.images;
    this.parts = parts;
    this.backoff = context.worker.backoff();
    this.pairsRead = pairsRead;
  }

  @Override
  public int parts() {
    return images.slabs().length;
  }

  @Override
  public int partsMin() {
    return 0;
  }

  /** While there are no images, counts as if one of 64 pairs that are READ could have been here. */
  @Override
  public double earned() {
    long read = pairsRead.sumThenReset();
    long tailHits = images.tailHits().sumThenReset();
    int own = parts();
    double pairs = own == 0 ? (double) read / parts.count() : (double) tailHits / own;
    return pairs * PAIR_NANOS;
  }

  @Override
  public boolean has(int part) {
    return images.hasSlab(parts.offset(part));
  }

  @Override
  public int next() {
    long[] slabs = images.slabs();
    return parts.partOf(slabs[slabs.length - 1]);
  }

  @Override
  public boolean release(int part) {
    images.removeSlab(parts.offset(part), backoff);
    return true;
  }

  @Override
  public void receive(int part) {
    images.addSlab(parts.offset(part), backoff);
  }
}
