package pando.client;

import java.lang.foreign.MemorySegment;
import java.util.List;
import pando.index.Partitioning;
import pando.index.Unwritten;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** Byte strings of compute servers, by a client of them. Thread-safe. */
final class ClientStrings extends MeteredClient implements ByteStrings {
  private static final Partitioning UNDIVIDED =
      Partitioning.undivided(0).withFences(List.of(MemorySegment.NULL));

  private final int keyBytesMax;
  private final int valueBytesMax;
  private volatile boolean closed;

  ClientStrings(ClientContext context, int keyBytesMax, int valueBytesMax) {
    super(context);
    this.keyBytesMax = keyBytesMax;
    this.valueBytesMax = valueBytesMax;
  }

  /** Checks that an operation may begin. */
  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the byte strings are closed");
    }
    context.checkOpen();
  }

  @Override
  public ByteSession session() {
    checkOpen();
    return new ClientByteSession(this);
  }

  @Override
  public Partitioning partitioning() {
    Partitioning known = context.table().partitioning();
    return known.hasFences() ? known : UNDIVIDED;
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public int keyBytesMax() {
    return keyBytesMax;
  }

  @Override
  public int valueBytesMax() {
    return valueBytesMax;
  }

  @Override
  public void flush() {
    context.checkOpen();
    new ServersFlush(context, true).run();
  }

  @Override
  public Unwritten unwritten() {
    return Unwritten.NONE;
  }

  @Override
  public boolean isClosed() {
    return closed || context.isClosed();
  }

  /** Ends the sessions; those operations that are under way end as they do. */
  @Override
  public void close() {
    closed = true;
  }
}
