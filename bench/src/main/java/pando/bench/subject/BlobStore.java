package pando.bench.subject;

import java.lang.foreign.MemorySegment;
import pando.cli.WrongResultException;
import pando.fabric.Fabric;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.blob.BlobSpace;
import pando.index.blob.Blobs;

/** An index whose entries have the words of values beside it. */
public final class BlobStore implements ValueStore {
  private final RangeIndex index;
  private final BlobSpace values;
  private final Session session;
  private final Blobs blobs;

  /**
   * Wraps an index.
   *
   * @param index empty; closed with this
   */
  public BlobStore(Fabric fabric, RangeIndex index) {
    this.index = index;
    this.values = new BlobSpace(fabric);
    this.session = index.session();
    this.blobs = new Blobs(values);
  }

  @Override
  public boolean put(long key, MemorySegment value) {
    long word = blobs.store(key, value, 0, Math.toIntExact(value.byteSize()));
    return session.put(key, word) && loadAndFree(key);
  }

  @Override
  public boolean remove(long key) {
    return session.remove(key) && loadAndFree(key);
  }

  private boolean loadAndFree(long key) {
    long word = session.value();
    if (!blobs.load(key, word)) {
      throw new WrongResultException("a value is not there: key=" + key + ", word=" + word);
    }
    blobs.free(key, word);
    return true;
  }

  @Override
  public MemorySegment value() {
    return blobs.bytes().asSlice(blobs.offset(), blobs.length());
  }

  @Override
  public PoolSpace space() {
    return values.space(index);
  }

  @Override
  public void close() {
    blobs.close();
    session.close();
    index.close();
    values.close();
  }
}
