package pando.index.orca;

import pando.fabric.Backoff;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.images.ImageCache;
import pando.index.orca.parts.CacheParts;

/** The images, and the filters beside them, as a holder of parts. */
final class ImageParts extends MeasuredParts {
  /** A READ of a pair of segments, which a scan waits for once for many. */
  private static final double PAIR_NANOS = 25;

  /** A READ of a segment. */
  private static final double SEGMENT_NANOS = 18 + TRIP_NANOS;

  private final ImageCache images;
  private final LeafEntries entries;
  private final CacheParts parts;
  private final Backoff backoff;
  private final double pairNanos;
  private final CacheUse use;

  /** Creates the holder. */
  ImageParts(OrcaContext context, CacheParts parts) {
    this.images = context.images;
    this.entries = context.directory.entries();
    this.parts = parts;
    this.backoff = context.worker.backoff();
    // Where lookups READ for images, most of those that are hit are theirs.
    boolean ofLookups = context.options.cacheUnit() != CacheUnit.RECORDS;
    this.pairNanos = ofLookups ? SEGMENT_NANOS : PAIR_NANOS;
    this.use = context.use;
  }

  @Override
  int parts() {
    return images.slabs().length;
  }

  @Override
  int partsMin() {
    return 0;
  }

  @Override
  void measure() {
    long read = use.pairsRead.sumThenReset();
    long tailHits = images.tailHits().sumThenReset();
    long found = use.filtered.sumThenReset();
    long unfound = use.unfiltered.sumThenReset();
    int own = parts();
    if (own > 0) {
      // Filters of other leaves would find as much as those that are here, as far as any are
      // missed.
      double pairs = (double) tailHits / own * pairNanos;
      double filters = (double) found / own;
      double gain = pairs + Math.min(filters, (double) unfound) * SEGMENT_NANOS;
      note(gain, pairs + filters * SEGMENT_NANOS);
    } else {
      // As if one of 64 pairs that are READ could have been here, and filters of all leaves alike.
      double covered = Math.min(1, (double) images.imagesOfSlab() / entries.end());
      note((double) read / parts.count() * pairNanos + unfound * covered * SEGMENT_NANOS, 0);
    }
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
