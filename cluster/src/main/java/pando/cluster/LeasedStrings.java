package pando.cluster;

import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Meters;
import pando.index.Partitioning;
import pando.index.Unwritten;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/** Byte strings whose sessions answer only while a {@link Lease} is held. */
final class LeasedStrings implements ByteStrings {
  private final ByteStrings strings;
  private final Lease lease;

  LeasedStrings(ByteStrings strings, Lease lease) {
    this.strings = strings;
    this.lease = lease;
  }

  @Override
  public ByteSession session() {
    return new LeasedByteSession(strings.session(), lease);
  }

  @Override
  public Partitioning partitioning() {
    return strings.partitioning();
  }

  @Override
  public int keyBytesMax() {
    return strings.keyBytesMax();
  }

  @Override
  public int valueBytesMax() {
    return strings.valueBytesMax();
  }

  @Override
  public String name() {
    return strings.name();
  }

  @Override
  public Fabric fabric() {
    return strings.fabric();
  }

  @Override
  public VerbCounters verbs() {
    return strings.verbs();
  }

  @Override
  public boolean isClosed() {
    return strings.isClosed();
  }

  @Override
  public void meters(Meters to) {
    strings.meters(to);
  }

  @Override
  public void flush() {
    strings.flush();
  }

  @Override
  public Unwritten unwritten() {
    return strings.unwritten();
  }

  @Override
  public void close() {
    strings.close();
  }
}
