package pando.index.orca;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.index.orca.delta.Deltas;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.images.ImageCache;
import pando.index.orca.parts.CacheParts;
import pando.index.orca.records.RecordCache;
import pando.index.pool.NodePlaces;
import pando.index.session.KeyRange;

/**
 * What one compute server of ORCA has of the index: the directory of its leaves, its caches, its
 * space and its root in the pool. Its sessions and tasks share it.
 */
final class OrcaStore implements AutoCloseable {
  final int number;
  final KeyRange range;
  final Fabric fabric;
  final OrcaSettings<?> options;
  final NodePlaces places;
  final Directory directory;
  final CacheParts parts;
  final DirectoryParts directoryParts;
  final RecordCache records;
  final Deltas deltas;
  final ImageCache images;
  final LeafSpace space;
  final OrcaRoot root;
  final CacheUse use;
  final MergeRelief relief;

  /**
   * Creates a store without leaves, whose caches have no memory yet.
   *
   * @param number of the compute server
   * @param range its keys
   */
  OrcaStore(
      int number,
      KeyRange range,
      Fabric fabric,
      OrcaSettings<?> options,
      int regionBytes,
      RandomGenerator random) {
    this.number = number;
    this.range = range;
    this.fabric = fabric;
    this.options = options;
    this.places = new NodePlaces(fabric, DirectoryPage.BYTES);
    this.directory = new Directory(fabric);
    List<Runnable> undo = new ArrayList<>(List.of(directory::close));
    try {
      this.parts = CacheParts.create(fabric, options.cacheBytes());
      undo.add(parts::close);
      this.deltas = new Deltas(parts);
      boolean pairs = options.cacheUnit() != CacheUnit.SEGMENTS;
      this.images = new ImageCache(directory.entries(), parts.memory(), parts.bytesOfPart(), pairs);
      this.records = new RecordCache(parts, 0, parts.count(), options.twin(), options.countBits());
      this.directoryParts = new DirectoryParts(directory, parts);
      this.use = new CacheUse(records, directoryParts);
      this.relief = new MergeRelief(deltas);
      this.root = new OrcaRoot(number);
      int memoryServers = fabric.memoryServers();
      this.space =
          new LeafSpace(number, memoryServers, regionBytes, options, directory, deltas, random);
    } catch (Throwable e) {
      Closing.after(e, undo.toArray(Runnable[]::new));
      throw e;
    }
  }

  /** Returns the bytes of the cache that are in use. */
  long bytesUsed() {
    return directory.bytes() + records.bytesUsed() + deltas.bytesUsed() + images.bytesUsed();
  }

  /** Forgets all leaves, of which no delta is left. */
  void forget() {
    assert deltas.bytesUsed() == 0 : "bytesUsed=" + deltas.bytesUsed();
    root.close();
    directory.entries().clear();
    records.clear();
    images.clear();
    use.noteRoom();
  }

  @Override
  public void close() {
    Closing.all(directory::close, parts::close);
  }
}
