package pando.door.resp;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** All clients that are connected. Thread-safe. */
final class Clients {
  private final int most;
  private final Map<Long, RespClient> clients = new ConcurrentSkipListMap<>();
  private final AtomicInteger count = new AtomicInteger();
  private final AtomicLong last = new AtomicLong();
  private final LongAdder refused = new LongAdder();

  Clients(int most) {
    this.most = most;
  }

  /** Returns a number that no client has had. */
  long newId() {
    return last.incrementAndGet();
  }

  /** Adds a client; returns {@code false} if there are as many as there may be. */
  boolean add(RespClient client) {
    if (count.incrementAndGet() > most) {
      count.decrementAndGet();
      refused.increment();
      return false;
    }
    clients.put(client.id, client);
    return true;
  }

  void remove(RespClient client) {
    if (clients.remove(client.id) != null) {
      count.decrementAndGet();
    }
  }

  /** Ends the connection of a client, which is none from now on. */
  void end(RespClient client) {
    remove(client);
    client.end();
  }

  /** Returns the clients in the order in which they came. */
  Collection<RespClient> all() {
    return clients.values();
  }

  int count() {
    return count.get();
  }

  /** Returns how many clients have come. */
  long came() {
    return last.get();
  }

  long refused() {
    return refused.sum();
  }

  int most() {
    return most;
  }
}
