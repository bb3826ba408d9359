package pando.door.resp;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Commands on sorted sets whose members all have one score, which are in the order of their bytes.
 */
final class SetCommands {
  private SetCommands() {}

  static List<Command> all() {
    return List.of(
        new Command("ZADD", -4, SetCommands::add),
        new Command("ZREM", -3, SetCommands::remove),
        new Command("ZSCORE", 3, SetCommands::score),
        new Command("ZCARD", 2, SetCommands::card),
        new Command("ZRANGE", -4, SetCommands::range),
        new Command("ZRANGEBYLEX", -4, call -> rangeByLex(call, false)),
        new Command("ZREVRANGEBYLEX", -4, call -> rangeByLex(call, true)),
        new Command("ZLEXCOUNT", 4, SetCommands::lexCount),
        new Command("ZREMRANGEBYLEX", 4, SetCommands::removeRange));
  }

  private static void add(RespCall call) {
    RespRequest request = call.request;
    boolean onlyNew = false;
    boolean onlyKnown = false;
    int i = 2;
    boolean isOption = true;
    while (isOption && i < request.count()) {
      if (request.is(i, "NX")) {
        onlyNew = true;
      } else if (request.is(i, "XX")) {
        onlyKnown = true;
      } else if (request.is(i, "GT") || request.is(i, "LT") || request.is(i, "INCR")) {
        throw Refusal.notSupported("ZADD " + request.text(i), Unsupported.ONE_SCORE);
      } else {
        isOption = request.is(i, "CH"); // changes nothing: no score ever changes
      }
      i += isOption ? 1 : 0;
    }
    int numbers = request.count() - i;
    if (numbers == 0 || numbers % 2 != 0) {
      throw Refusal.syntax();
    }
    if (onlyNew && onlyKnown) {
      throw new Refusal("ERR XX and NX options at the same time are not compatible");
    }
    double score = scoreOfAll(request, i);
    List<byte[]> members = new ArrayList<>();
    for (int at = i + 1; at < request.count(); at += 2) {
      members.add(member(call, at));
    }
    call.replies.integer(
        call.store.sets().add(call.client.database, call.key(1), score, members, !onlyKnown));
  }

  private static double scoreOfAll(RespRequest request, int first) {
    double score = Scores.of(request.text(first));
    boolean isSame = true;
    for (int i = first + 2; i < request.count(); i += 2) {
      isSame &= Scores.of(request.text(i)) == score;
    }
    if (!isSame) {
      throw new Refusal("ERR several scores are not supported: " + Unsupported.ONE_SCORE);
    }
    return score;
  }

  /** Returns an argument as a member, with room in front. */
  private static byte[] member(RespCall call, int i) {
    RespCall.checkLength("member", call.request.length(i), OwnKeyspace.MEMBER_BYTES_MAX);
    return call.request.copy(i, OwnKeyspace.MEMBER_AT);
  }

  private static void remove(RespCall call) {
    List<byte[]> given = new ArrayList<>();
    for (int i = 2; i < call.request.count(); i++) {
      given.add(member(call, i));
    }
    long count =
        call.store
            .sets()
            .remove(
                call.client.database,
                call.key(1),
                members -> {
                  List<byte[]> chosen = List.copyOf(given);
                  chosen.forEach(member -> System.arraycopy(members, 0, member, 0, members.length));
                  given.clear();
                  return chosen;
                });
    call.replies.integer(count);
  }

  private static void score(RespCall call) {
    byte[] member = member(call, 2);
    boolean found =
        call.store
            .sets()
            .read(
                call.client.database,
                call.key(1),
                false,
                (score, members) -> {
                  boolean has = call.store.sets().has(members, member);
                  if (has) {
                    call.replies.score(score);
                  }
                  return has;
                });
    if (!found) {
      call.replies.nil();
    }
  }

  private static void card(RespCall call) {
    long count =
        call.store
            .sets()
            .read(
                call.client.database,
                call.key(1),
                0L,
                (_, members) -> count(call, members, Stored.behindAll(members)));
    call.replies.integer(count);
  }

  private static long count(RespCall call, byte[] from, byte @Nullable [] to) {
    return call.store.scan(from, to, false, Long.MAX_VALUE, (_, _) -> true);
  }

  private static void lexCount(RespCall call) {
    LexRange.check(call.request, 2, 3);
    long count =
        call.store
            .sets()
            .read(
                call.client.database,
                call.key(1),
                0L,
                (_, members) -> {
                  LexRange range = call.range(members, 2, 3);
                  return count(call, range.from, range.to);
                });
    call.replies.integer(count);
  }

  private static void removeRange(RespCall call) {
    LexRange.check(call.request, 2, 3);
    long count =
        call.store
            .sets()
            .remove(
                call.client.database,
                call.key(1),
                members -> {
                  LexRange range = call.range(members, 2, 3);
                  List<byte[]> some = call.store.keys(range.from, range.to);
                  if (some.size() == Store.REMOVED_AT_ONCE) {
                    call.store.requireBackground();
                  }
                  return some;
                });
    call.replies.integer(count);
  }

  private static void range(RespCall call) {
    RespRequest request = call.request;
    boolean byLex = false;
    boolean down = false;
    boolean withScores = false;
    int limit = 0;
    for (int i = 4; i < request.count(); i++) {
      if (request.is(i, "BYLEX")) {
        byLex = true;
      } else if (request.is(i, "REV")) {
        down = true;
      } else if (request.is(i, "WITHSCORES")) {
        withScores = true;
      } else if (request.is(i, "BYSCORE")) {
        throw Refusal.notSupported("ZRANGE BYSCORE", Unsupported.ONE_SCORE);
      } else if (request.is(i, "LIMIT") && i + 2 < request.count()) {
        limit = i + 1;
        i += 2;
      } else {
        throw Refusal.syntax();
      }
    }
    if (!byLex) {
      throw new Refusal("ERR ZRANGE is supported with BYLEX only: no ranks are kept");
    }
    if (withScores) {
      throw new Refusal("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
    }
    page(call, down, limit);
  }

  private static void rangeByLex(RespCall call, boolean down) {
    RespRequest request = call.request;
    if (request.count() != 4 && !(request.count() == 7 && request.is(4, "LIMIT"))) {
      throw Refusal.syntax();
    }
    page(call, down, request.count() == 4 ? 0 : 5);
  }

  /**
   * Replies with the members between arguments 2 and 3.
   *
   * @param limitAt the argument with how many are left out at first, in front of how many there are
   *     at the most; 0 if there is no limit
   */
  private static void page(RespCall call, boolean down, int limitAt) {
    RespRequest request = call.request;
    long skipped = limitAt == 0 ? 0 : request.integer(limitAt);
    long given = limitAt == 0 ? -1 : request.integer(limitAt + 1);
    long most = given < 0 ? Long.MAX_VALUE : given;
    int least = down ? 3 : 2;
    int greatest = down ? 2 : 3;
    LexRange.check(request, least, greatest);
    int[] count = {0};
    call.store
        .sets()
        .read(
            call.client.database,
            call.key(1),
            0,
            (_, members) -> {
              LexRange range = call.range(members, least, greatest);
              long[] passed = {0};
              long limit = skipped < 0 || most == 0 ? 0 : Long.MAX_VALUE;
              call.store.scan(
                  range.from,
                  range.to,
                  down,
                  limit,
                  (key, _) -> {
                    if (passed[0]++ >= skipped) {
                      Replies.checkEntries(++count[0]);
                      call.replies.bulkBehind(key, OwnKeyspace.MEMBER_AT);
                    }
                    return count[0] < most;
                  });
              return 0;
            });
    call.replies.arrayBefore(count[0]);
  }
}
