package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SequencedMap;
import pando.fabric.VerbCounters;

/** Commands that Redis has not: on the order of keys, and on what the index counts. */
final class PandoCommands {
  private static final int VERB_STATS = 7;

  private PandoCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("PANDO.RANGE", -3, PandoCommands::range),
        new Command("PANDO.FLOOR", 2, call -> neighbour(call, call.store.floor(call.key(1)))),
        new Command("PANDO.CEILING", 2, call -> neighbour(call, call.store.ceiling(call.key(1)))),
        new Command("PANDO.CAS", 4, PandoCommands::compareAndSet),
        new Command("PANDO.STATS", 1, PandoCommands::stats));
  }

  private static void range(RespCall call) {
    RespRequest request = call.request;
    boolean down = false;
    boolean onlyKeys = false;
    long given = Long.MAX_VALUE;
    for (int i = 3; i < request.count(); i++) {
      if (request.is(i, "REV")) {
        down = true;
      } else if (request.is(i, "KEYS")) {
        onlyKeys = true;
      } else if (request.is(i, "LIMIT") && i + 1 < request.count()) {
        given = request.integer(++i);
      } else {
        throw Refusal.syntax();
      }
    }
    if (given < 0) {
      throw new Refusal("ERR LIMIT is negative: limit=" + given);
    }
    boolean withValues = !onlyKeys;
    byte[] prefix = call.keyspace.prefix(call.client.database);
    LexRange range = call.range(prefix, down ? 2 : 1, down ? 1 : 2);
    int[] count = {0};
    call.store.scan(
        range.from,
        range.to,
        down,
        given,
        (key, value) -> {
          Replies.checkEntries(++count[0]);
          call.replies.bulkBehind(key, call.keyspace.markBytes);
          if (withValues) {
            replyValue(call, value);
          }
          return true;
        });
    call.replies.arrayBefore(withValues ? 2 * count[0] : count[0]);
  }

  private static void neighbour(RespCall call, boolean found) {
    if (found && call.keyspace.isIn(call.client.database, call.store.session().key())) {
      call.replies.array(2);
      call.replies.bulkBehind(call.store.session().key(), call.keyspace.markBytes);
      replyValue(call, call.store.value());
    } else {
      call.replies.noArray();
    }
  }

  /** Adds a string; a set has none. */
  private static void replyValue(RespCall call, MemorySegment value) {
    if (call.keyspace.isString(value)) {
      call.replyValue(value);
    } else {
      call.replies.nil();
    }
  }

  private static void compareAndSet(RespCall call) {
    call.reply(call.store.compareAndSet(call.key(1), call.string(2), call.string(3)));
  }

  private static void stats(RespCall call) {
    VerbCounters verbs = call.keyspace.strings().verbs();
    SequencedMap<String, Long> sizes = call.keyspace.sizes();
    Replies replies = call.replies;
    replies.map(VERB_STATS + sizes.size());
    stat(replies, "verbs.read", verbs.reads);
    stat(replies, "verbs.write", verbs.writes);
    stat(replies, "verbs.atomic", verbs.atomics);
    stat(replies, "verbs.call", verbs.calls);
    stat(replies, "trips", verbs.roundTrips);
    stat(replies, "bytes.in", verbs.bytesIn);
    stat(replies, "bytes.out", verbs.bytesOut);
    sizes.forEach((name, number) -> stat(replies, name, number));
  }

  private static void stat(Replies replies, String name, long number) {
    replies.bulk(name);
    replies.integer(number);
  }
}
