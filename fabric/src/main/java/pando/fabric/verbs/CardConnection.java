package pando.fabric.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A queue pair that is connected to a memory server's, and where that memory is. Of no further use
 * once a verb has failed by it.
 */
final class CardConnection implements AutoCloseable {
  private final QueuePair queuePair;
  private final Offer offer;
  private final int server;
  private final long dramBytes;
  private @Nullable Status cause;
  private boolean flushing;
  private boolean closed;

  /** For a lane: verbs that are posted and not complete, and when they must have been flushed. */
  private int underWay;

  private long flushEnd;

  /**
   * Creates it.
   *
   * @param queuePair connected to the offered one
   * @param dramBytes bytes of DRAM of the memory server
   */
  CardConnection(QueuePair queuePair, Offer offer, int server, long dramBytes) {
    this.queuePair = queuePair;
    this.offer = offer;
    this.server = server;
    this.dramBytes = dramBytes;
  }

  /** Returns the number of the memory server. */
  int server() {
    return server;
  }

  /**
   * Returns where bytes of the pool are in the memory server's address space.
   *
   * @throws pando.fabric.InvalidAddressException if the memory server does not have all of them
   */
  long address(long remote, int bytes) {
    return offer.address(dramBytes, remote, bytes);
  }

  /** Returns the key for bytes of the pool. */
  int key() {
    return offer.dram().key();
  }

  /** Returns where a WRITE of no bytes is in order. */
  Offer.Place anyPlace() {
    return offer.dram();
  }

  /** Returns the most bytes of a WRITE that may go within the request. */
  int inlineBytes() {
    return queuePair.inlineBytes();
  }

  /** Posts verbs that are chained. */
  void post(WorkRequests requests) {
    queuePair.post(requests);
  }

  /** Posts room for a message. */
  void receive(ReceiveRequest request, long completion) {
    queuePair.receive(request, completion);
  }

  /**
   * Notes that a verb has failed.
   *
   * @return why: of one that was flushed, what broke the queue pair
   */
  Status fail(Status status) {
    Status first = cause;
    if (first == null) {
      cause = status;
      return status;
    }
    return status == Status.FLUSHED ? first : status;
  }

  /** Returns whether a verb has failed by it, or it was broken up or closed. */
  boolean isBroken() {
    return cause != null || flushing || closed;
  }

  /** Makes what is under way complete, with an error. */
  void breakUp() {
    flushing = true;
    if (!closed) {
      queuePair.breakUp();
    }
  }

  /** Returns whether {@link #breakUp} was called. */
  boolean isFlushing() {
    return flushing;
  }

  /** Returns the verbs that a lane has posted, and that are not complete. */
  int underWay() {
    return underWay;
  }

  void addUnderWay(int verbs) {
    underWay += verbs;
  }

  /** Returns when the verbs under way must have been flushed. */
  long flushEnd() {
    return flushEnd;
  }

  void setFlushEnd(long nanoTime) {
    flushEnd = nanoTime;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      queuePair.close();
    }
  }
}
