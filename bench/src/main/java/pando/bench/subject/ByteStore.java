package pando.bench.subject;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.Fabric;
import pando.index.PoolSpace;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;

/** An index of byte strings, whose keys are numbers of 8 bytes. */
public final class ByteStore implements ValueStore {
  private static final ValueLayout.OfLong KEY =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final ByteIndex index;
  private final ByteSession session;
  private final MemorySegment key = MemorySegment.ofArray(new byte[Long.BYTES]);

  /** Makes an empty index in a pool. */
  public ByteStore(Fabric fabric, ByteOptions options) {
    this.index = ByteIndex.create(fabric, options);
    this.session = index.session();
  }

  @Override
  public boolean put(long number, MemorySegment value) {
    key.set(KEY, 0, number);
    return session.put(key, value);
  }

  @Override
  public boolean remove(long number) {
    key.set(KEY, 0, number);
    return session.remove(key);
  }

  @Override
  public MemorySegment value() {
    return session.value();
  }

  @Override
  public PoolSpace space() {
    return index.space();
  }

  @Override
  public void close() {
    session.close();
    index.close();
  }
}
