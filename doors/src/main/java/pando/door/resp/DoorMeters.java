package pando.door.resp;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import pando.index.Meters;

/** What a door counts, as meters. Thread-safe. */
final class DoorMeters {
  private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Door door;
  private Durations before = new Durations();
  private Durations recent = new Durations();
  private long recentAt = System.nanoTime() - RECENT_NANOS;

  DoorMeters(Door door) {
    this.door = door;
  }

  /** Names all meters. */
  void meters(Meters to) {
    to.count("pando.ops", "Requests that were served.", door::served);
    latency(to, 0.5);
    latency(to, 0.99);
    to.gauge("pando.resp.connections", "Clients that are connected.", door.clients()::count);
    to.count("pando.resp.accepted", "Connections that came.", door.clients()::came);
    to.count("pando.resp.rejected", "Those that were one too many.", door.clients()::refused);
    to.gauge(
        "pando.resp.waiting.bytes",
        "What unfinished requests, unread replies and cursors take.",
        door.waiting()::bytes);
    bytes(to, "in", lane -> lane.bytesIn);
    bytes(to, "out", lane -> lane.bytesOut);
    errors(to, "refused", lane -> lane.refused);
    errors(to, "failed", lane -> lane.failed);
    errors(to, "protocol", lane -> lane.broken);
    lookups(to, "found", lane -> lane.hits);
    lookups(to, "absent", lane -> lane.misses);
    to.count(
        "pando.resp.expired",
        "Keys that have expired and that this door has removed.",
        door.keyspace()::expiredCount);
    if (door.keyspace().counts().length > 0) {
      to.gauge("pando.keys", "Keys of all databases.", this::keys);
    }
    for (int slot = 0; slot < CommandTable.SLOTS; slot++) {
      command(to, slot);
    }
  }

  private void latency(Meters to, double quantile) {
    to.gauge(
        "pando.latency.seconds",
        "What the requests of a read took, with sending their replies, since the last look.",
        () -> seconds(quantile),
        "quantile",
        String.valueOf(quantile));
  }

  private void bytes(Meters to, String dir, ToLongFunction<LaneCounters> of) {
    String meaning = "Bytes from clients and to them, without encryption.";
    to.count("pando.resp.bytes", meaning, () -> door.sum(of), "dir", dir);
  }

  private void errors(Meters to, String kind, ToLongFunction<LaneCounters> of) {
    String meaning = "Replies that were errors, by whether the client is the cause.";
    to.count("pando.resp.errors", meaning, () -> door.sum(of), "kind", kind);
  }

  private void lookups(Meters to, String outcome, ToLongFunction<LaneCounters> of) {
    String meaning = "Keys that commands read, by whether they were there.";
    to.count("pando.resp.lookups", meaning, () -> door.sum(of), "outcome", outcome);
  }

  private long keys() {
    return LongStream.of(door.keyspace().counts()).sum();
  }

  private void command(Meters to, int slot) {
    Command command = door.commands().at(slot);
    if (command != null) {
      to.count(
          "pando.resp.commands",
          "Requests of a command.",
          () -> door.sum(lane -> lane.commands[slot]),
          "command",
          command.name().toLowerCase(Locale.ROOT));
    }
  }

  /**
   * Returns the seconds within which a share of recent batches ended: of those since the last look,
   * but of a second at least. {@code NaN} if there were none.
   */
  private synchronized double seconds(double share) {
    long now = System.nanoTime();
    if (now - recentAt >= RECENT_NANOS) {
      Durations all = door.batches();
      recent = all.since(before);
      before = all;
      recentAt = now;
    }
    long nanos = recent.quantile(share);
    return nanos < 0 ? Double.NaN : nanos / 1e9;
  }
}
