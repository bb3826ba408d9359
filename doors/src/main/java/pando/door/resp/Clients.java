package pando.door.resp;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** All clients that are connected. Thread-safe. */
final class Clients {
  private final int most;
  private final Map<Long, Client> clients = new ConcurrentSkipListMap<>();
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
  boolean add(Client client) {
    if (count.incrementAndGet() > most) {
      count.decrementAndGet();
      refused.increment();
      return false;
    }
    clients.put(client.id, client);
    return true;
  }

  void remove(Client client) {
    if (clients.remove(client.id) != null) {
      count.decrementAndGet();
    }
  }

  /** Returns the clients in the order in which they came. */
  Collection<Client> all() {
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

  /**
   * Returns the key behind which a scan goes on, {@code null} where it begins.
   *
   * @throws Refusal if the cursor is not known
   */
  byte @Nullable [] resumed(long cursor) {
    if (cursor == 0) {
      return null;
    }
    Client client = clients.get(Cursors.clientOf(cursor));
    byte[] key = client == null ? null : client.cursors.key(cursor);
    if (key == null) {
      throw new Refusal(
          "ERR unknown cursor: the last 1024 of each connection are kept until it ends: cursor="
              + Long.toUnsignedString(cursor));
    }
    return key;
  }
}
