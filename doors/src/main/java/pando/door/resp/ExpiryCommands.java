package pando.door.resp;

import java.lang.foreign.MemorySegment;
import java.util.List;

/** Commands on when keys expire, whatever they have. */
final class ExpiryCommands {
  /** What is answered of a key that is not there, and of one that does not expire. */
  private static final int ABSENT = -2;

  private static final int NEVER = -1;

  private ExpiryCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("EXPIRE", -3, call -> expire(call, "EXPIRE", ExpiryOption.EX)),
        new Command("PEXPIRE", -3, call -> expire(call, "PEXPIRE", ExpiryOption.PX)),
        new Command("EXPIREAT", -3, call -> expire(call, "EXPIREAT", ExpiryOption.EXAT)),
        new Command("PEXPIREAT", -3, call -> expire(call, "PEXPIREAT", ExpiryOption.PXAT)),
        new Command("TTL", 2, call -> reply(call, seconds(left(call)))),
        new Command("PTTL", 2, call -> reply(call, left(call))),
        new Command("EXPIRETIME", 2, call -> reply(call, seconds(deadline(call)))),
        new Command("PEXPIRETIME", 2, call -> reply(call, deadline(call))),
        new Command("PERSIST", 2, ExpiryCommands::persist));
  }

  private static void expire(RespCall call, String command, ExpiryOption how) {
    Condition condition = Condition.of(call.request);
    long deadline = how.any(call, 2, command);
    MemorySegment key = call.key(1);
    boolean done = false;
    while (!done
        && call.store.find(key)
        && condition.isMet(call.keyspace.deadline(call.store.value()), deadline)) {
      done = call.store.expire(key, call.store.value(), deadline);
    }
    call.reply(done);
  }

  /** When a key gets another deadline. */
  private record Condition(boolean isNone, boolean isSome, boolean isLater, boolean isEarlier) {
    static Condition of(RespRequest request) {
      boolean none = false;
      boolean some = false;
      boolean later = false;
      boolean earlier = false;
      for (int i = 3; i < request.count(); i++) {
        if (request.is(i, "NX")) {
          none = true;
        } else if (request.is(i, "XX")) {
          some = true;
        } else if (request.is(i, "GT")) {
          later = true;
        } else if (request.is(i, "LT")) {
          earlier = true;
        } else {
          throw new Refusal("ERR Unsupported option " + request.shown(i));
        }
      }
      if (none && (some || later || earlier)) {
        throw new Refusal("ERR NX and XX, GT or LT options at the same time are not compatible");
      }
      if (later && earlier) {
        throw new Refusal("ERR GT and LT options at the same time are not compatible");
      }
      return new Condition(none, some, later, earlier);
    }

    /** Never is later than any other deadline. */
    boolean isMet(long before, long deadline) {
      boolean hasOne = before != Keyspace.NEVER;
      return !(isNone && hasOne)
          && !(isSome && !hasOne)
          && !(isLater && (!hasOne || deadline <= before))
          && !(isEarlier && hasOne && deadline >= before);
    }
  }

  private static void persist(RespCall call) {
    MemorySegment key = call.key(1);
    boolean done = false;
    while (!done
        && call.store.find(key)
        && call.keyspace.deadline(call.store.value()) != Keyspace.NEVER) {
      done = call.store.setDeadline(key, call.store.value(), Keyspace.NEVER);
    }
    call.reply(done);
  }

  /** Returns when a key expires, in milliseconds since 1970, or what is answered in place of it. */
  private static long deadline(RespCall call) {
    if (!call.hit(call.store.find(call.key(1)))) {
      return ABSENT;
    }
    long deadline = call.keyspace.deadline(call.store.value());
    return deadline == Keyspace.NEVER ? NEVER : deadline;
  }

  /** Returns in how many milliseconds a key expires, or what is answered in place of it. */
  private static long left(RespCall call) {
    long deadline = deadline(call);
    return deadline < 0 ? deadline : deadline - call.store.now();
  }

  /** Rounds to the nearest second, also the greatest deadline. */
  private static long seconds(long millis) {
    return millis < 0 ? millis : Long.divideUnsigned(millis + 500, 1000);
  }

  private static void reply(RespCall call, long number) {
    call.replies.integer(number);
  }
}
