package pando.baselines.rolex;

import pando.index.pool.NodePlaces;

/** Knows where in a pool runs, synonym leaves and pages can be. */
final class PoolPlaces {
  private final NodePlaces places;
  private final RunLayout runs;
  private final int leafBytes;

  PoolPlaces(NodePlaces places, RunLayout runs, int leafBytes) {
    this.places = places;
    this.runs = runs;
    this.leafBytes = leafBytes;
  }

  boolean isPage(long address) {
    return RunLayout.isAligned(address) && places.isNodeAddress(address);
  }

  boolean isSynonym(long address) {
    return RunLayout.isAligned(address) && places.fits(address, leafBytes);
  }

  boolean isRun(long place) {
    int leaves = RunLayout.leaves(place);
    return leaves >= 1 && places.fits(RunLayout.address(place), runs.bytes(leaves));
  }
}
