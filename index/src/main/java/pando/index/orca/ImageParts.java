package pando.index.orca;

import pando.fabric.Backoff;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.images.ImageCache;
import pando.index.orca.parts.CacheParts;

/** The images, and the filters beside them, as a holder of parts. */
final class ImageParts extends MeasuredParts {
  private final ImageCache images;
  private final LeafEntries entries;
  private final CacheParts parts;
  private final Backoff backoff;
  private final double pairNanos;

  /** What a filter saves that has no such key. */
  private final double filterNanos;

  private final CacheUse use;

  /** Creates the holder. */
  ImageParts(OrcaContext context, PoolCosts costs, CacheParts parts) {
    this.images = context.images;
    this.entries = context.directory.entries();
    this.parts = parts;
    this.backoff = context.worker.backoff();
    // Where lookups READ for images, most of those that are hit are theirs.
    boolean ofLookups = context.options.cacheUnit() != CacheUnit.RECORDS;
    this.pairNanos = ofLookups ? costs.segment() : costs.pair();
    this.filterNanos = costs.isBehindNetwork() ? costs.segment() : 0;
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
      double gain = pairs + Math.min(filters, (double) unfound) * filterNanos;
      note(gain, pairs + filters * filterNanos);
    } else {
      // As if one of 64 pairs that are READ could have been here, and filters of all leaves alike.
      double covered = Math.min(1, (double) images.imagesOfSlab() / entries.end());
      note((double) read / parts.count() * pairNanos + unfound * covered * filterNanos, 0);
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
