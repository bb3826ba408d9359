package pando.door.resp;

import static java.util.Map.entry;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Commands of Redis that a door does not have, each with the reason. Immutable. */
final class Unsupported {
  static final String NO_TRANSACTIONS =
      "others change the keys, too, here; PANDO.CAS, SET NX, GETSET and INCR are atomic";
  static final String ONE_SCORE = "all members of a set have one score here";

  /** Why there are no sets in a door to byte strings that others change, too. */
  static final String NO_SETS =
      "keys have strings alone here, as others share them and see the same entries";

  private static final String PLAIN_SETS =
      "there are no plain sets; a sorted set with a score of 0 for all members is one";

  /** What a door does not have that has its keys for itself. */
  static final Unsupported OWN =
      new Unsupported(
          reasons(
              entry(
                  "there are no scripts; PANDO.CAS compares and sets",
                  "EVAL EVALSHA EVALSHA_RO EVAL_RO FCALL FCALL_RO FUNCTION SCRIPT"),
              entry(
                  "there are no messages",
                  """
                  MONITOR PSUBSCRIBE PUBLISH PUBSUB PUNSUBSCRIBE SPUBLISH SSUBSCRIBE SUBSCRIBE
                  SUNSUBSCRIBE UNSUBSCRIBE\
                  """),
              entry(
                  "there are no hashes; a key for each field, and PANDO.RANGE over them, do the"
                      + " same",
                  """
                  HDEL HEXISTS HEXPIRE HEXPIREAT HEXPIRETIME HGET HGETALL HGETDEL HGETEX HINCRBY
                  HINCRBYFLOAT HKEYS HLEN HMGET HMSET HPERSIST HPEXPIRE HPEXPIREAT HPEXPIRETIME HPTTL
                  HRANDFIELD HSCAN HSET HSETEX HSETNX HSTRLEN HTTL HVALS\
                  """),
              entry(
                  "there are no lists",
                  """
                  BLMOVE BLMPOP BLPOP BRPOP BRPOPLPUSH LINDEX LINSERT LLEN LMOVE LMPOP LPOP LPOS LPUSH
                  LPUSHX LRANGE LREM LSET LTRIM RPOP RPOPLPUSH RPUSH RPUSHX SORT SORT_RO\
                  """),
              entry(
                  PLAIN_SETS,
                  """
                  SADD SCARD SDIFF SDIFFSTORE SINTER SINTERCARD SINTERSTORE SISMEMBER SMEMBERS
                  SMISMEMBER SMOVE SPOP SRANDMEMBER SREM SSCAN SUNION SUNIONSTORE\
                  """),
              entry(
                  ONE_SCORE,
                  """
                  BZMPOP BZPOPMAX BZPOPMIN ZCOUNT ZDIFF ZDIFFSTORE ZINCRBY ZINTER ZINTERCARD
                  ZINTERSTORE ZMPOP ZMSCORE ZPOPMAX ZPOPMIN ZRANDMEMBER ZRANGEBYSCORE ZRANGESTORE ZRANK
                  ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYSCORE ZREVRANK ZSCAN ZUNION
                  ZUNIONSTORE\
                  """),
              entry(
                  "there are no streams",
                  """
                  XACK XACKDEL XADD XAUTOCLAIM XCLAIM XDEL XDELEX XGROUP XINFO XLEN XPENDING XRANGE
                  XREAD XREADGROUP XREVRANGE XSETID XTRIM\
                  """),
              entry(
                  "strings are of bytes, not of bits",
                  """
                  BITCOUNT BITFIELD BITFIELD_RO BITOP BITPOS GETBIT SETBIT\
                  """),
              entry(
                  "there are no such values",
                  """
                  GEOADD GEODIST GEOHASH GEOPOS GEORADIUS GEORADIUSBYMEMBER GEORADIUSBYMEMBER_RO
                  GEORADIUS_RO GEOSEARCH GEOSEARCHSTORE PFADD PFCOUNT PFDEBUG PFMERGE PFSELFTEST VADD
                  VCARD VDIM VEMB VGETATTR VINFO VISMEMBER VLINKS VRANDMEMBER VREM VSETATTR VSIM\
                  """),
              entry(
                  "each server answers for all keys; there is no cluster of Redis and no replica",
                  """
                  ASKING CLUSTER FAILOVER MIGRATE PSYNC READONLY READWRITE REPLCONF REPLICAOF
                  RESTORE-ASKING ROLE SLAVEOF SYNC WAIT WAITAOF\
                  """),
              entry(
                  "the pool is in memory, nothing is durable", "BGREWRITEAOF BGSAVE LASTSAVE SAVE"),
              entry(
                  "not part of this server",
                  """
                  ACL DEBUG DUMP LATENCY LCS MODULE MOVE MSETEX RESTORE SHUTDOWN SLOWLOG SWAPDB\
                  """)));

  /** What a door does not have to keys that others change, too. */
  static final Unsupported SHARED = new Unsupported(ofShared(OWN.reasons));

  private final Map<String, String> reasons;

  private Unsupported(Map<String, String> reasons) {
    this.reasons = reasons;
  }

  @SafeVarargs
  private static Map<String, String> reasons(Map.Entry<String, String>... groups) {
    Map<String, String> reasons = new HashMap<>();
    for (Map.Entry<String, String> group : groups) {
      Stream.of(group.getValue().split("\\s+", -1))
          .forEach(name -> reasons.put(name, group.getKey()));
    }
    return Map.copyOf(reasons);
  }

  /** Adds what is refused where others change the keys, too: sets and transactions. */
  private static Map<String, String> ofShared(Map<String, String> own) {
    Map<String, String> reasons = new HashMap<>(own);
    reasons.replaceAll(
        (_, reason) -> reason.equals(ONE_SCORE) || reason.equals(PLAIN_SETS) ? NO_SETS : reason);
    SetCommands.all().forEach(command -> reasons.put(command.name(), NO_SETS));
    reasons.put("WATCH", NO_TRANSACTIONS);
    reasons.put("UNWATCH", NO_TRANSACTIONS);
    return Map.copyOf(reasons);
  }

  /** Returns the names of all commands that are refused by name. */
  List<String> names() {
    return reasons.keySet().stream().sorted().toList();
  }

  /** Returns the error for a command that is not in the table. */
  Refusal refusal(RespRequest request) {
    String name = request.text(0).toUpperCase(Locale.ROOT);
    String reason = reasons.get(name);
    return reason == null ? unknown(request) : Refusal.notSupported(name, reason);
  }

  private static Refusal unknown(RespRequest request) {
    StringBuilder arguments = new StringBuilder();
    for (int i = 1; i < request.count() && arguments.length() < RespRequest.SHOWN_MAX; i++) {
      String start = request.shown(i, RespRequest.SHOWN_MAX - arguments.length());
      arguments.append('\'').append(start).append("' ");
    }
    return new Refusal(
        "ERR unknown command '%s', with args beginning with: %s"
            .formatted(request.shown(0), arguments));
  }
}
