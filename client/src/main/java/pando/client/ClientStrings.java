package pando.client;

import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Metered;
import pando.index.Meters;
import pando.index.Partitioning;
import pando.index.Unwritten;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** Byte strings of compute servers, by a client of them. Thread-safe. */
final class ClientStrings implements ByteStrings {
  private final ClientContext context;
  private final Metered watched;
  private final int keyBytesMax;
  private final int valueBytesMax;
  private volatile boolean closed;

  ClientStrings(ClientContext context, int keyBytesMax, int valueBytesMax) {
    this.context = context;
    this.watched = new MeteredClient(context);
    this.keyBytesMax = keyBytesMax;
    this.valueBytesMax = valueBytesMax;
  }

  ClientContext context() {
    return context;
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
    return context.routes().partitioning();
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
  public String name() {
    return watched.name();
  }

  @Override
  public Fabric fabric() {
    return watched.fabric();
  }

  @Override
  public VerbCounters verbs() {
    return watched.verbs();
  }

  @Override
  public void meters(Meters to) {
    watched.meters(to);
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
