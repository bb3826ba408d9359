package pando.door.resp;

import java.security.SecureRandom;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.durable.DurableStrings;
import pando.index.LastError;
import pando.journal.DataFolder;

/** What all event loops of a door share. Thread-safe. */
final class Door {
  private final Keyspace keyspace;
  private final @Nullable DataFolder folder;
  private final Clients clients;
  private final MemoryBudget waiting;
  private final Cursors cursors;
  private final @Nullable Password password;
  private final CommandTable commands;
  private final Unsupported unsupported;
  private final ReplyBlocks blocks = new ReplyBlocks();
  private final Background background;
  private final List<LaneCounters> lanes = new CopyOnWriteArrayList<>();
  private final long start = System.nanoTime();
  private final String runId = randomId();
  private volatile int port;
  private volatile boolean closing;

  Door(Keyspace keyspace, RespOptions options) {
    this.keyspace = keyspace;
    this.folder = keyspace.strings() instanceof DurableStrings logged ? logged.folder() : null;
    this.clients = new Clients(options.clientsMax());
    this.waiting = new MemoryBudget(options.waitingBytesMax());
    this.cursors = new Cursors(waiting);
    this.background = new Background(this);
    this.password = options.password();
    this.commands = new CommandTable(keyspace.isOwn(), folder);
    this.unsupported = keyspace.isOwn() ? Unsupported.OWN : Unsupported.SHARED;
  }

  private static String randomId() {
    byte[] id = new byte[20];
    new SecureRandom().nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  /** Returns a number of this run that no other one has. */
  String runId() {
    return runId;
  }

  Keyspace keyspace() {
    return keyspace;
  }

  /** Returns the folder that has the log, {@code null} if changes are in none. */
  @Nullable DataFolder folder() {
    return folder;
  }

  Clients clients() {
    return clients;
  }

  MemoryBudget waiting() {
    return waiting;
  }

  Cursors cursors() {
    return cursors;
  }

  @Nullable Password password() {
    return password;
  }

  CommandTable commands() {
    return commands;
  }

  Unsupported unsupported() {
    return unsupported;
  }

  ReplyBlocks blocks() {
    return blocks;
  }

  Background background() {
    return background;
  }

  /** Lets event loops run no further request, and ends those that take long. */
  void close() {
    closing = true;
    keyspace.stop();
  }

  boolean isClosing() {
    return closing;
  }

  /** Returns counters for another event loop, which stay when it has ended. */
  LaneCounters newCounters() {
    LaneCounters counters = new LaneCounters();
    lanes.add(counters);
    return counters;
  }

  /** Returns a sum over all event loops. */
  long sum(ToLongFunction<LaneCounters> of) {
    return lanes.stream().mapToLong(of).sum();
  }

  /** Returns the last error that a client got. */
  Optional<LastError> lastError() {
    return lanes.stream()
        .flatMap(lane -> Stream.ofNullable(lane.lastError))
        .max(Comparator.comparingLong(LastError::millis));
  }

  /** Returns how many requests were served. */
  long served() {
    return sum(lane -> lane.served);
  }

  /** Returns how long batches of requests took in all event loops. */
  Durations batches() {
    Durations all = new Durations();
    lanes.forEach(lane -> all.add(lane.batches));
    return all;
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
