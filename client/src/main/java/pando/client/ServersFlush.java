package pando.client;

import pando.fabric.StalledException;

/** Has each compute server write what it has changed to the pool. */
final class ServersFlush {
  private final ClientContext context;
  private final boolean strings;
  private final Dispatch dispatch;

  /**
   * Prepares it.
   *
   * @param strings whether they serve byte strings, not words
   */
  ServersFlush(ClientContext context, boolean strings) {
    this.context = context;
    this.strings = strings;
    this.dispatch = new Dispatch(context);
  }

  /** Does what {@link PandoClient#flush} says. */
  void run() {
    long start = context.host().nanoTime();
    RouteTable known = context.table();
    context.refresh(known, known.routes().epoch());
    known = context.table();
    for (long newest = flush(known); newest > known.routes().epoch(); ) {
      // A compute server may have given keys to one that is not among these.
      if (context.host().nanoTime() - start > context.patienceNanos()) {
        throw new StalledException(
            "no compute server knows who serves which keys now: epoch=%s, known=%s"
                .formatted(newest, known.routes().epoch()));
      }
      context.refresh(known, newest);
      known = context.table();
      newest = flush(known);
    }
  }

  /** Has each compute server write; returns the newest epoch of what they know, or 0. */
  private long flush(RouteTable known) {
    long newest = 0;
    for (int range = 0; range < known.partitioning().servers(); range++) {
      Call call = strings ? new ByteCall() : new Call();
      call.flush(range);
      dispatch.run(call);
      newest = Math.max(newest, call.epoch);
    }
    // If other routes came meanwhile, a place was not that of the same compute server each time.
    newest = Math.max(newest, context.routes().epoch());
    return known.routes().isPartitioned() ? newest : 0;
  }
}
