package pando.map;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.index.Metered;
import pando.index.blob.BlobSpace;

/** An index as its map uses it. Thread-safe. */
interface MapIndex<K, V> extends AutoCloseable {
  /** Returns the index itself, or what a client knows of it. */
  Metered index();

  /** Writes what was changed to the pool, as {@link pando.index.RangeIndex#flush} does. */
  void flush();

  /** Returns about how many entries there are. */
  long sizeEstimate();

  /** Returns the space for values beside the index; {@code null} if there are none. */
  @Nullable BlobSpace space();

  /** Returns the encodings of its keys. */
  KeyBytes<K> keys();

  /** Opens a session. */
  Entries<K, V> session();

  /** Returns a key within bounds before which a partition ends; {@code null} if there is none. */
  @Nullable MemorySegment middle(Bounds bounds);

  /** Gives back what the map has beside the index, which stays open. Its sessions are closed. */
  @Override
  void close();
}
