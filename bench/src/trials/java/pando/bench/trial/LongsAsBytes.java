package pando.bench.trial;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.CacheCounters;
import pando.index.EntrySource;
import pando.index.EntryVisitor;
import pando.index.Partitioning;
import pando.index.PoolSpace;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Unwritten;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteSource;
import pando.index.bytes.KeyBounds;

/**
 * An index of byte strings as one of numbers, so that the clients of trials can use it. A key has 8
 * bytes in the order of the numbers and up to 7 more, a value has 8 and up to 250 more, by which a
 * reader can tell that it is whole.
 */
record LongsAsBytes(ByteIndex index) implements RangeIndex {
  private static final int MORE_MAX = 250;

  /** Returns the byte string of a key. */
  static MemorySegment key(long key) {
    byte[] bytes = new byte[Long.BYTES + (int) (key & 7)];
    ByteBuffer.wrap(bytes).putLong(key ^ Long.MIN_VALUE);
    return MemorySegment.ofArray(bytes);
  }

  /** Returns the first number whose key is at or above a byte string. */
  static long first(MemorySegment from) {
    byte[] bytes = new byte[Long.BYTES];
    MemorySegment.copy(
        from, 0, MemorySegment.ofArray(bytes), 0, Math.min(from.byteSize(), Long.BYTES));
    long number = key(MemorySegment.ofArray(bytes));
    return ByteIndex.compare(key(number), from) < 0 ? number + 1 : number;
  }

  /** Returns the keys whose byte strings are in a range of a table. */
  static ClusterWatch.Range range(Partitioning table, int range) {
    MemorySegment end = KeyBounds.fenceBehind(table, range);
    return new ClusterWatch.Range(
        first(table.fenceOfRange(range)), end == null ? Long.MAX_VALUE : first(end) - 1);
  }

  /** Returns a session of numbers over one of byte strings. */
  static Session session(ByteSession bytes) {
    return new Numbers(bytes);
  }

  /** Returns the key of a byte string of at least 8 bytes. */
  static long key(MemorySegment key) {
    return key.asByteBuffer().getLong() ^ Long.MIN_VALUE;
  }

  /** Returns the byte string of a value. */
  static MemorySegment value(long value) {
    int more = (int) Long.remainderUnsigned(value * 0x9E3779B97F4A7C15L, MORE_MAX);
    byte[] bytes = new byte[Long.BYTES + (value % 2 == 0 ? more : 0)];
    Arrays.fill(bytes, (byte) value);
    ByteBuffer.wrap(bytes).putLong(value);
    return MemorySegment.ofArray(bytes);
  }

  /** Returns the value of a byte string, which must be whole; 0 of the empty one. */
  static long value(MemorySegment value) {
    if (value.byteSize() == 0) {
      return 0;
    }
    long number = value.asByteBuffer().getLong();
    if (value.mismatch(value(number)) >= 0) {
      throw new AssertionError("not a whole value: bytes=" + value.byteSize());
    }
    return number;
  }

  @Override
  public String name() {
    return "bytes";
  }

  @Override
  public Fabric fabric() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Session session() {
    return new Numbers(index.session());
  }

  @Override
  public long bulkLoad(EntrySource entries, double fill) {
    return index.load(new Source(entries), fill);
  }

  /** The entries of a source of numbers. */
  private record Source(EntrySource numbers) implements ByteSource {
    @Override
    public boolean next() {
      return numbers.next();
    }

    @Override
    public MemorySegment key() {
      return LongsAsBytes.key(numbers.key());
    }

    @Override
    public MemorySegment value() {
      return LongsAsBytes.value(numbers.value());
    }
  }

  @Override
  public VerbCounters verbs() {
    return index.verbs();
  }

  @Override
  public CacheCounters cache() {
    return CacheCounters.NONE;
  }

  @Override
  public Partitioning partitioning() {
    return Partitioning.equalWidth(1);
  }

  @Override
  public boolean serves(long key) {
    return true;
  }

  @Override
  public boolean isShared() {
    return false;
  }

  @Override
  public PoolSpace space() {
    return index.space();
  }

  @Override
  public long poolBytes() {
    return index.poolBytes();
  }

  @Override
  public long cachedBytes() {
    return index.cachedBytes();
  }

  @Override
  public boolean isClosed() {
    return index.isClosed();
  }

  @Override
  public void flush() {
    index.flush();
  }

  @Override
  public Unwritten unwritten() {
    return index.unwritten();
  }

  @Override
  public void close() {
    index.close();
  }

  /** A session of numbers. */
  private record Numbers(ByteSession bytes) implements Session {
    @Override
    public long key() {
      return LongsAsBytes.key(bytes.key());
    }

    @Override
    public long value() {
      return LongsAsBytes.value(bytes.value());
    }

    @Override
    public boolean get(long key) {
      return bytes.get(LongsAsBytes.key(key));
    }

    @Override
    public boolean put(long key, long value) {
      return bytes.put(LongsAsBytes.key(key), LongsAsBytes.value(value));
    }

    @Override
    public boolean putIfAbsent(long key, long value) {
      return bytes.putIfAbsent(LongsAsBytes.key(key), LongsAsBytes.value(value));
    }

    @Override
    public boolean update(long key, long value) {
      return bytes.update(LongsAsBytes.key(key), LongsAsBytes.value(value));
    }

    @Override
    public boolean remove(long key) {
      return bytes.remove(LongsAsBytes.key(key));
    }

    @Override
    public boolean replace(long key, long expected, long value) {
      MemorySegment its = LongsAsBytes.key(key);
      return bytes.replace(its, LongsAsBytes.value(expected), LongsAsBytes.value(value));
    }

    @Override
    public boolean remove(long key, long expected) {
      return bytes.remove(LongsAsBytes.key(key), LongsAsBytes.value(expected));
    }

    @Override
    public void store(long key, long value) {
      bytes.store(LongsAsBytes.key(key), LongsAsBytes.value(value));
    }

    @Override
    public void discard(long key) {
      bytes.discard(LongsAsBytes.key(key));
    }

    @Override
    public int getAll(long[] keys, int from, int count, long[] values, boolean[] found) {
      int present = 0;
      for (int i = from; i < from + count; i++) {
        found[i] = get(keys[i]);
        if (found[i]) {
          values[i] = value();
          present++;
        }
      }
      return present;
    }

    @Override
    public void putAll(long[] keys, int from, int count, long[] values) {
      for (int i = from; i < from + count; i++) {
        store(keys[i], values[i]);
      }
    }

    @Override
    public boolean floor(long key) {
      return bytes.floor(LongsAsBytes.key(key));
    }

    @Override
    public boolean ceiling(long key) {
      return bytes.ceiling(LongsAsBytes.key(key));
    }

    @Override
    public boolean lower(long key) {
      return bytes.lower(LongsAsBytes.key(key));
    }

    @Override
    public boolean higher(long key) {
      return bytes.higher(LongsAsBytes.key(key));
    }

    @Override
    public boolean first() {
      return bytes.first();
    }

    @Override
    public boolean last() {
      return bytes.last();
    }

    @Override
    public long sizeEstimate() {
      return bytes.scan(LongsAsBytes.key(Long.MIN_VALUE), null, Long.MAX_VALUE, (_, _) -> true);
    }

    @Override
    public long scan(long from, long to, long limit, EntryVisitor visitor) {
      return bytes.scan(
          LongsAsBytes.key(from),
          to == Long.MAX_VALUE ? null : LongsAsBytes.key(to + 1),
          limit,
          (key, value) -> visitor.visit(LongsAsBytes.key(key), LongsAsBytes.value(value)));
    }

    @Override
    public long scanDown(long from, long to, long limit, EntryVisitor visitor) {
      return bytes.scanDown(
          from == Long.MAX_VALUE ? null : LongsAsBytes.key(from + 1),
          LongsAsBytes.key(to),
          limit,
          (key, value) -> visitor.visit(LongsAsBytes.key(key), LongsAsBytes.value(value)));
    }

    @Override
    public void alone(Runnable action) {
      bytes.alone(action);
    }

    @Override
    public void close() {
      bytes.close();
    }
  }
}
