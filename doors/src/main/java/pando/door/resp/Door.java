package pando.door.resp;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What all event loops of a door share. Thread-safe. */
final class Door {
  private final Keyspace keyspace;
  private final Clients clients;
  private final MemoryBudget waiting;
  private final @Nullable Password password;
  private final CommandTable commands = new CommandTable();
  private final LongAdder served = new LongAdder();
  private final long start = System.nanoTime();
  private volatile int port;

  Door(Keyspace keyspace, RespOptions options) {
    this.keyspace = keyspace;
    this.clients = new Clients(options.clientsMax());
    this.waiting = new MemoryBudget(options.waitingBytesMax());
    this.password = options.password();
  }

  Keyspace keyspace() {
    return keyspace;
  }

  Clients clients() {
    return clients;
  }

  MemoryBudget waiting() {
    return waiting;
  }

  @Nullable Password password() {
    return password;
  }

  CommandTable commands() {
    return commands;
  }

  /** Counts requests that were served. */
  void serve(long requests) {
    served.add(requests);
  }

  long served() {
    return served.sum();
  }

  long upSeconds() {
    return (System.nanoTime() - start) / 1_000_000_000;
  }

  void setPort(int port) {
    this.port = port;
  }

  int port() {
    return port;
  }
}
