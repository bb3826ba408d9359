package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.durable.DurableStrings;
import pando.index.bytes.ByteSession;
import pando.journal.FaultyFolder;
import pando.journal.SyncPolicy;

/** A process is killed in the middle of changes of sets. */
@Timeout(300)
class SetRepairTest {
  private static final List<String> SCRIPT =
      List.of(
          "ZADD one 1 a 1 b 1 c",
          "ZADD other 2 d 2 e",
          "ZREM one a b c",
          "ZADD one 3 f 3 g",
          "SET one string",
          "ZADD one 3 h", // refused
          "DEL one",
          "COPY other copy",
          "RENAME copy name",
          "ZADD more 4 i",
          "RENAME more name",
          "ZADD last 5 j 5 k 5 l",
          "COPY other last REPLACE",
          "ZADD timed 6 m 6 n",
          "PEXPIREAT timed 33177117420123",
          "RENAME timed moved",
          "COPY moved copied",
          "PERSIST copied",
          "EXPIRE moved -1",
          "ZREMRANGEBYLEX last - +",
          "SET string s",
          "RENAME string other");

  /** The members of each set of database 0, by its number. */
  private static Map<Long, Integer> members(DurableStrings strings) {
    Map<Long, Integer> members = new HashMap<>();
    try (ByteSession session = strings.session()) {
      session.scan(
          MemorySegment.ofArray(new byte[] {OwnKeyspace.DATABASES}),
          MemorySegment.ofArray(new byte[] {OwnKeyspace.TIMES}),
          Long.MAX_VALUE,
          (key, _) -> {
            members.merge(Stored.big(key, 1), 1, Integer::sum);
            return true;
          });
    }
    return members;
  }

  /** The numbers of the sets of all keys. */
  private static List<Long> sets(DurableStrings strings) {
    List<Long> sets = new ArrayList<>();
    try (ByteSession session = strings.session()) {
      session.scan(
          MemorySegment.ofArray(new byte[1]),
          MemorySegment.ofArray(new byte[] {1}),
          Long.MAX_VALUE,
          (_, value) -> {
            if ((value.get(JAVA_BYTE, 0) & OwnKeyspace.SET) != 0) {
              sets.add(Stored.set(value));
            }
            return true;
          });
    }
    return sets;
  }

  private static List<String> keys(RawClient client) throws Exception {
    String all = client.ask("KEYS", "*").replaceAll("[\\[\\]]", "");
    return all.isEmpty() ? List.of() : List.of(all.split(", ", -1));
  }

  @Test
  void shouldMendSetsAfterEachRecord() throws Exception {
    FaultyFolder disk = new FaultyFolder();
    int[] mended = {0, 0, 0};
    try (FolderDoor door = FolderDoor.open(disk, SyncPolicy.NO);
        RawClient client = door.raw()) {
      for (String line : SCRIPT) {
        client.send((line + "\r\n").getBytes(ISO_8859_1));
        client.reply();
      }
      int records = disk.records();
      assertThat(records).isGreaterThan(40);
      for (int i = 0; i <= records; i++) {
        check(disk.cut(i), mended);
      }
    }
    assertThat(mended).doesNotContain(0);
  }

  private static void check(FaultyFolder cut, int[] mended) throws Exception {
    Map<String, String> left = cut.kill().entries(DurableStrings.KIND);
    Map<String, Long> cards = new HashMap<>();
    try (FolderDoor door = FolderDoor.open(cut, SyncPolicy.NO);
        RawClient client = door.raw()) {
      List<Long> sets = sets(door.strings());
      Map<Long, Integer> members = members(door.strings());
      assertThat(members.keySet()).containsExactlyInAnyOrderElementsOf(sets);
      List<String> keys = keys(client);
      assertThat(client.ask("DBSIZE")).isEqualTo(":" + keys.size());
      count(left, keys, mended);
      for (String key : keys) {
        if (client.ask("TYPE", key).equals("+zset")) {
          cards.put(key, Long.parseLong(client.ask("ZCARD", key).substring(1)));
        }
      }
      assertThat(cards.values()).doesNotContain(0L);
      // Each set is its own: what is removed of one stays in the others.
      for (String key : List.copyOf(cards.keySet())) {
        client.ask("DEL", key);
        cards.remove(key);
        for (Map.Entry<String, Long> other : cards.entrySet()) {
          assertThat(client.ask("ZCARD", other.getKey())).isEqualTo(":" + other.getValue());
        }
        assertThat(client.ask("ZADD", "new", "7", key)).isEqualTo(":1");
      }
    }
    try (FolderDoor door = FolderDoor.open(cut, SyncPolicy.NO);
        RawClient client = door.raw()) {
      assertThat(client.ask("DBSIZE")).isEqualTo(":" + keys(client).size());
      assertThat(members(door.strings()).keySet())
          .containsExactlyInAnyOrderElementsOf(sets(door.strings()));
    }
  }

  /** Counts what was to be mended, so that the script has all of it. */
  private static void count(Map<String, String> left, List<String> keys, int[] mended) {
    Map<String, Integer> named = new HashMap<>();
    left.forEach((key, value) -> {
      if (key.charAt(0) == 0 && (value.charAt(0) & OwnKeyspace.SET) != 0) {
        named.merge(value.substring(9, 17), 1, Integer::sum);
      }
    });
    List<String> names = left.keySet().stream().filter(key -> key.charAt(0) == 0).toList();
    List<String> members = left.keySet().stream().filter(key -> key.charAt(0) != 0).toList();
    mended[0] += named.containsValue(2) ? 1 : 0;
    mended[1] += names.size() > keys.size() ? 1 : 0;
    mended[2] +=
        members.stream()
                .anyMatch(key -> !named.containsKey(key.substring(1, OwnKeyspace.MEMBER_AT)))
            ? 1
            : 0;
  }
}
