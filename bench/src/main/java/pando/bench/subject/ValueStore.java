package pando.bench.subject;

import java.lang.foreign.MemorySegment;
import pando.index.PoolSpace;

/** A map of values of any length in a pool, for one thread. */
public interface ValueStore extends AutoCloseable {
  /** Stores a value; returns whether the key was there. {@link #value} is then what it had. */
  boolean put(long key, MemorySegment value);

  /** Removes a key; returns whether it was there. {@link #value} is then what it had. */
  boolean remove(long key);

  /** Returns the value that the last operation found, until the next one. */
  MemorySegment value();

  /** Returns where every byte of the pool is. */
  PoolSpace space();

  /** Closes the map, which gives back what it does not use; the pool stays. */
  @Override
  void close();
}
