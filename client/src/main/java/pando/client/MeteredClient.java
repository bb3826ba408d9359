package pando.client;

import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.Metered;
import pando.index.Meters;

/** What can be watched of an index from a client of it: verbs are those of its compute servers. */
class MeteredClient implements Metered {
  final ClientContext context;

  MeteredClient(ClientContext context) {
    this.context = context;
  }

  @Override
  public String name() {
    return "client";
  }

  /**
   * Throws, as a client has no fabric.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Fabric fabric() {
    throw new UnsupportedOperationException(
        "a client reaches compute servers, and no memory server: watch the compute servers");
  }

  /** Returns none, as compute servers issue them. */
  @Override
  public VerbCounters verbs() {
    return new VerbCounters();
  }

  @Override
  public boolean isClosed() {
    return context.isClosed();
  }

  @Override
  public void meters(Meters to) {
    to.gauge(
        "pando.partitions",
        "Ranges of keys, each with a compute server.",
        () -> context.table().partitioning().servers());
    to.gauge(
        "pando.partitions.epoch",
        "Changes of the ranges since the index was made.",
        () -> context.routes().epoch());
  }
}
