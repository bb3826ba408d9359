package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * A client's transaction: the keys that it watches, and the requests that wait for {@code EXEC}. It
 * is ended by the connection, or by the thread that runs {@code EXEC}. Thread-safe.
 */
final class Transaction {
  private final MemoryBudget budget;
  private final List<RespRequest> requests = new ArrayList<>();
  private final List<Watched> watched = new ArrayList<>();
  private long bytes;
  private boolean isOpen;
  private boolean isAborted;

  /**
   * A key that is watched.
   *
   * @param key as it is stored
   * @param hash which number of {@link KeyVersions} it has
   * @param version of the keys of that hash when it was watched
   * @param hadExpired whether it was there then, but had expired
   */
  record Watched(MemorySegment key, int hash, long version, boolean hadExpired) {
    private static final int BYTES = 128;

    private long bytes() {
      return BYTES + key.byteSize();
    }
  }

  /** Takes the memory for requests from a budget. */
  Transaction(MemoryBudget budget) {
    this.budget = budget;
  }

  /** Begins to collect requests. */
  synchronized void open() {
    isOpen = true;
  }

  /** Returns whether requests are collected. */
  synchronized boolean isOpen() {
    return isOpen;
  }

  /** Has {@code EXEC} refuse all requests, as one of them cannot be run. */
  synchronized void abort() {
    isAborted = true;
  }

  /** Returns whether {@code EXEC} is to refuse all requests. */
  synchronized boolean isAborted() {
    return isAborted;
  }

  /**
   * Adds a request.
   *
   * @throws Refusal if there is no memory for it
   */
  synchronized void add(RespRequest request) {
    take(request.copyBytes());
    requests.add(request.copied());
  }

  /**
   * Adds a key that is watched.
   *
   * @throws Refusal if there is no memory for it
   */
  synchronized void watch(Watched key) {
    take(key.bytes());
    watched.add(key);
  }

  private void take(long more) {
    if (!budget.tryTakeShare(bytes, more)) {
      throw new Refusal("ERR the server has no memory for further requests that wait");
    }
    bytes += more;
  }

  /**
   * What {@code EXEC} runs.
   *
   * @param requests in their order
   */
  record Content(List<RespRequest> requests, List<Watched> watched) {}

  /** Returns all that there is at this moment, as the client may leave. */
  synchronized Content content() {
    return new Content(List.copyOf(requests), List.copyOf(watched));
  }

  /** Returns how many requests there are. */
  synchronized int size() {
    return requests.size();
  }

  /** Forgets all, and gives back the memory. */
  synchronized void end() {
    isOpen = false;
    isAborted = false;
    requests.clear();
    watched.clear();
    budget.giveBack(bytes);
    bytes = 0;
  }

  /** Forgets which keys are watched. */
  synchronized void unwatch() {
    for (Watched key : watched) {
      budget.giveBack(key.bytes());
      bytes -= key.bytes();
    }
    watched.clear();
  }
}
